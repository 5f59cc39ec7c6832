package chat

// Verbs are the verbs of all buttons, for the test that tries each as a stranger.
func (c *Chat) Verbs() []string {
	var out []string
	for v := range c.taps {
		out = append(out, v)
	}
	return out
}

// Commands are the names of all commands.
func (c *Chat) Commands() []string {
	var out []string
	for name := range c.commands {
		out = append(out, name)
	}
	return out
}

// Data builds the data of a button.
func Data(verb string, args ...any) string { return data(verb, args...) }
