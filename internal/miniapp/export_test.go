package miniapp

// RoutesForTest lists the operations that are served, as "METHOD path".
func (s *Server) RoutesForTest() []string {
	var out []string
	for _, r := range s.routes() {
		out = append(out, r.method+" /"+r.path)
	}
	return out
}

// WeightForTest is what the page's files are together on the wire, in bytes.
func (s *Server) WeightForTest() int { return s.assets.weight() }
