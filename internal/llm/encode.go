package llm

import (
	"encoding/json"
	"errors"
)

// message is one turn in both dialects.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func messages(r Request) []message {
	var out []message
	for _, t := range r.Turns {
		role := "user"
		if t.Assistant {
			role = "assistant"
		}
		out = append(out, message{Role: role, Content: t.Text})
	}
	return out
}

type openAIRequest struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	ResponseFormat      any       `json:"response_format,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Temperature         *float64  `json:"temperature,omitempty"`
}

type jsonSchema struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

func encodeOpenAI(model string, r Request, able ability) []byte {
	out := openAIRequest{Model: model, Messages: append([]message{{"system", r.System}}, messages(r)...)}
	if able.oldLimit {
		out.MaxTokens = r.MaxTokens
	} else {
		out.MaxCompletionTokens = r.MaxTokens
	}
	if !able.noTemperature {
		out.Temperature = r.Temperature
	}
	if len(r.Schema) > 0 {
		switch able.format {
		case formatSchema:
			f := jsonSchema{Type: "json_schema"}
			f.JSONSchema.Name, f.JSONSchema.Strict, f.JSONSchema.Schema = "post", true, r.Schema
			out.ResponseFormat = f
		case formatObject:
			out.ResponseFormat = map[string]string{"type": "json_object"}
		case formatNone:
		}
	}
	return mustJSON(out)
}

type anthropicRequest struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
}

func encodeAnthropic(model string, r Request, able ability) []byte {
	out := anthropicRequest{Model: model, MaxTokens: r.MaxTokens, System: r.System, Messages: messages(r)}
	if !able.noTemperature {
		out.Temperature = r.Temperature
	}
	return mustJSON(out)
}

// mustJSON encodes types of this package, which always encode unless a schema is
// no JSON: a mistake of the program.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llm: " + err.Error())
	}
	return b
}

// errShape says that a response holds no completion.
var errShape = errors.New("no completion in the response")

func decodeOpenAI(raw []byte) (Answer, error) {
	var in struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content *string `json:"content"`
				Refusal *string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, errShape
	}
	if len(in.Choices) == 0 {
		return Answer{}, errShape
	}
	c := in.Choices[0]
	a := Answer{Raw: raw, TokensIn: max(0, in.Usage.Prompt), TokensOut: max(0, in.Usage.Completion), CutOff: c.FinishReason == "length"}
	a.Declined = c.FinishReason == "content_filter" || c.Message.Refusal != nil && *c.Message.Refusal != ""
	if c.Message.Content != nil {
		a.Text = *c.Message.Content
	}
	return a, nil
}

func decodeAnthropic(raw []byte) (Answer, error) {
	var in struct {
		Type    string `json:"type"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StopReason string `json:"stop_reason"`
		Usage      struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.Type != "message" {
		return Answer{}, errShape
	}
	a := Answer{Raw: raw, TokensIn: max(0, in.Usage.Input), TokensOut: max(0, in.Usage.Output), CutOff: in.StopReason == "max_tokens", Declined: in.StopReason == "refusal"}
	for _, c := range in.Content {
		if c.Type == "text" {
			a.Text += c.Text
		}
	}
	return a, nil
}
