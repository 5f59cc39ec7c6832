package miniapp

import _ "embed" // the description

//go:embed openapi.json
var description []byte

// describe answers the OpenAPI description of this API.
func (s *Server) describe(*call) (reply, error) {
	return reply{raw: description, kind: "application/json"}, nil
}
