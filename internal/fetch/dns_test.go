package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// rebindingDNS is a name server on loopback that changes its answers.
type rebindingDNS struct {
	conn   net.PacketConn
	mu     sync.Mutex
	count  int // questions for A so far
	answer func(n int) (v4, v6 []string)
}

func newRebindingDNS(t *testing.T) *rebindingDNS {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &rebindingDNS{conn: conn, answer: func(n int) ([]string, []string) {
		if n == 1 {
			return []string{"203.0.113.7"}, nil
		}
		return []string{"127.0.0.1"}, []string{"::1"}
	}}
	t.Cleanup(func() { _ = conn.Close() })
	go d.serve()
	return d
}

func (d *rebindingDNS) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var nd net.Dialer
		return nd.DialContext(ctx, "udp4", d.conn.LocalAddr().String())
	}}
}

func (d *rebindingDNS) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

func (d *rebindingDNS) serve() {
	buf := make([]byte, 2048)
	for {
		n, from, err := d.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := d.reply(buf[:n]); reply != nil {
			_, _ = d.conn.WriteTo(reply, from)
		}
	}
}

func (d *rebindingDNS) reply(q []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(q)
	if err != nil {
		return nil
	}
	question, err := p.Question()
	if err != nil {
		return nil
	}
	d.mu.Lock()
	if question.Type == dnsmessage.TypeA {
		d.count++
	}
	v4, v6 := d.answer(d.count)
	d.mu.Unlock()
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true, RecursionAvailable: true})
	_ = b.StartQuestions()
	_ = b.Question(question)
	_ = b.StartAnswers()
	rh := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
	switch question.Type {
	case dnsmessage.TypeA:
		for _, a := range v4 {
			_ = b.AResource(rh, dnsmessage.AResource{A: netip.MustParseAddr(a).As4()})
		}
	case dnsmessage.TypeAAAA:
		for _, a := range v6 {
			_ = b.AAAAResource(rh, dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(a).As16()})
		}
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	return out
}
