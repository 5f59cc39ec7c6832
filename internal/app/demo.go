package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/httpd"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/samples"
)

// DemoOptions are the demo's flags.
type DemoOptions struct {
	Addr    string // where the chat page listens
	DataDir string // empty: DATA_DIR/demo
	Browser bool   // open the page
}

// Demo runs the whole product against the sandbox: a private Postgres, a local
// stand-in for Telegram with a chat page, and sample sources. It differs from
// Serve in addresses alone; the product does not know.
func Demo(ctx context.Context, cfg config.Config, opt DemoOptions, process Process) error {
	cfg, err := demoConfig(cfg, opt)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o755); err != nil { //nolint:gosec // the private server's account has to traverse it
		return &config.Error{Variable: "DATA_DIR", Problem: "cannot be used: " + err.Error() + ": make it a folder that this user may write to, or choose another one"}
	}
	// The address is taken before the product starts: it is the product's Telegram.
	face := &lateHandler{}
	public, err := httpd.Listen(ctx, opt.Addr, face, process.Log)
	if err != nil {
		return explainListen("--addr", err)
	}
	base := "http://" + public.Addr()
	newsroom, err := samples.New(samples.Config{Base: base + "/samples"})
	if err != nil {
		public.Close()
		return err
	}
	stand, err := sandbox.New(sandbox.Config{
		StateFile: filepath.Join(cfg.DataDir, "telegram.json"),
		WebApp:    base + "/app/",
		Preview:   newsroom.Preview,
		Logger:    process.Log,
	})
	if err != nil {
		public.Close()
		return err
	}
	defer func() {
		if err := stand.Close(); err != nil {
			process.Log.Warn().Err(err).Msg("the demo's chats were not saved")
		}
	}()
	cfg.APIURL, cfg.PreviewURL, cfg.PublicURL, cfg.BotToken = base, base+"/s", base, string(stand.Token())

	mux := http.NewServeMux()
	mux.Handle("/samples/", http.StripPrefix("/samples", newsroom))
	mux.Handle("/", stand)
	face.set(mux) // the product asks its Telegram while it is being built
	public.Serve()

	process.Packs = demoPacks(base)
	a, err := New(ctx, cfg, process)
	if err != nil {
		public.Close()
		return err
	}
	a.public = public
	face.set(a.publicFace(mux).Handler())
	if a.ops, err = httpd.Listen(ctx, cfg.OpsAddr, httpd.Ops(a.metrics), a.log); err != nil {
		a.db.Close()
		return explainListen("OPS_ADDR", err)
	}
	a.ready = func() {
		fmt.Fprintf(process.Say, "postonce demo: %s\n", base+"/")
		if opt.Browser {
			openBrowser(ctx, base+"/")
		}
	}
	return a.run(ctx)
}

// demoPacks suggests the newsroom: the demo has no network.
func demoPacks(base string) []desk.PackView {
	return []desk.PackView{
		{ID: "demo-en", Language: "en", Title: "Sample newsroom", Sources: []string{base + "/samples/gazette/feed.xml", base + "/samples/orbit/atom.xml"}},
		{ID: "demo-ru", Language: "ru", Title: "Пример редакции", Sources: []string{base + "/samples/vestnik/feed.json"}},
	}
}

// demoConfig keeps what a person set and gives the rest values for one machine.
func demoConfig(cfg config.Config, opt DemoOptions) (config.Config, error) {
	host, _, err := net.SplitHostPort(opt.Addr)
	if err != nil {
		return cfg, &config.Error{Variable: "--addr", Problem: fmt.Sprintf("is %q: want host:port, such as 127.0.0.1:8080", opt.Addr)}
	}
	cfg.DataDir = filepath.Join(cfg.DataDir, "demo")
	if opt.DataDir != "" {
		cfg.DataDir = opt.DataDir
	}
	cfg.Updates = "polling"
	cfg.Access = "open"
	if cfg.OpsAddr == "127.0.0.1:9090" { // the default: the demo must not fail for a port that nobody asked for
		cfg.OpsAddr = "127.0.0.1:0"
	}
	// The sample sources live on this machine.
	nets := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	if ip, err := netip.ParseAddr(host); err == nil {
		nets = append(nets, netip.PrefixFrom(ip, ip.BitLen()))
	}
	cfg.AllowNets = append(slices.Clone(cfg.AllowNets), nets...)
	return cfg, nil
}

// openBrowser shows the page where a desktop is there to show it; its failure
// is no failure of the demo, as the address was printed.
func openBrowser(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "linux":
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" { //nolint:forbidigo // asks the desktop, not the configuration
			return
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	if err := cmd.Start(); err == nil {
		go func() { _ = cmd.Wait() }()
	}
}
