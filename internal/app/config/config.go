// Package config reads the environment into values, once, at the start. It is
// the only reader of environment variables; components get values from app.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"
)

// Config is everything that can be set; config.example.env lists it with the
// same defaults (a test keeps the two equal).
type Config struct {
	BotToken     string `env:"TELEGRAM_BOT_TOKEN"`
	BotTokenFile string `env:"TELEGRAM_BOT_TOKEN_FILE"`
	APIURL       string `env:"TELEGRAM_API_URL" envDefault:"https://api.telegram.org"`
	PreviewURL   string `env:"TELEGRAM_PREVIEW_URL" envDefault:"https://t.me/s"`
	Updates      string `env:"TELEGRAM_UPDATES" envDefault:"polling"`

	DatabaseURL       string `env:"DATABASE_URL"`
	DatabaseURLFile   string `env:"DATABASE_URL_FILE"`
	DatabaseDirectURL string `env:"DATABASE_DIRECT_URL"`
	DatabaseConns     int32  `env:"DATABASE_CONNS" envDefault:"20"`
	DataDir           string `env:"DATA_DIR" envDefault:"./data"`

	HTTPAddr  string `env:"HTTP_ADDR" envDefault:":8080"`
	OpsAddr   string `env:"OPS_ADDR" envDefault:"127.0.0.1:9090"`
	PublicURL string `env:"PUBLIC_URL"`

	OperatorIDs []int64 `env:"OPERATOR_IDS"`
	Access      string  `env:"ACCESS" envDefault:"invite"`
	LogChatID   int64   `env:"LOG_CHAT_ID" envDefault:"0"`

	LLMBaseURL    string `env:"LLM_BASE_URL"`
	LLMAPIKey     string `env:"LLM_API_KEY"`
	LLMAPIKeyFile string `env:"LLM_API_KEY_FILE"`
	LLMModel      string `env:"LLM_MODEL"`
	LLMAPI        string `env:"LLM_API" envDefault:"openai"`
	BudgetDay     int64  `env:"MODEL_BUDGET_DAY" envDefault:"0"`
	BudgetChannel int64  `env:"MODEL_BUDGET_CHANNEL_DAY" envDefault:"0"`

	PollMin   time.Duration `env:"POLL_INTERVAL_MIN" envDefault:"5m"`
	PollMax   time.Duration `env:"POLL_INTERVAL_MAX" envDefault:"6h"`
	AllowNets Networks      `env:"FETCH_ALLOW_NETS"`

	KeepTextsDays   int `env:"KEEP_TEXTS_DAYS" envDefault:"90"`
	KeepAnswersDays int `env:"KEEP_MODEL_ANSWERS_DAYS" envDefault:"30"`

	WorkersCritical int           `env:"WORKERS_CRITICAL" envDefault:"8"`
	WorkersDefault  int           `env:"WORKERS_DEFAULT" envDefault:"16"`
	WorkersBulk     int           `env:"WORKERS_BULK" envDefault:"4"`
	ShutdownGrace   time.Duration `env:"SHUTDOWN_GRACE" envDefault:"30s"`

	Billing           string `env:"BILLING" envDefault:"off"`
	BillingPlans      string `env:"BILLING_PLANS"`
	ProviderToken     string `env:"PAYMENT_PROVIDER_TOKEN"`
	ProviderTokenFile string `env:"PAYMENT_PROVIDER_TOKEN_FILE"`

	LogLevel  string `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string `env:"LOG_FORMAT" envDefault:"json"`
}

// Error names the variable that is wrong and the mend, in one line.
type Error struct {
	Variable string
	Problem  string
}

func (e *Error) Error() string { return e.Variable + " " + e.Problem }

func problem(variable, format string, args ...any) *Error {
	return &Error{Variable: variable, Problem: fmt.Sprintf(format, args...)}
}

// Load reads the variables given (os.Environ in the program) and checks every
// value on its own. It returns an *Error for the first that is wrong. What a
// command needs beyond that it asks for itself, as serve does with NeedToken.
func Load(environ []string) (Config, error) {
	var cfg Config
	vars := env.ToMap(environ)
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: vars}); err != nil {
		return cfg, firstProblem(err, vars)
	}
	if err := cfg.readSecrets(); err != nil {
		return cfg, err
	}
	return cfg, cfg.check()
}

// firstProblem turns the library's error into one line that names the variable.
func firstProblem(err error, vars map[string]string) error {
	agg, ok := errors.AsType[env.AggregateError](err)
	if !ok || len(agg.Errors) == 0 {
		return err
	}
	pe, ok := errors.AsType[env.ParseError](agg.Errors[0])
	if !ok {
		return agg.Errors[0]
	}
	field, _ := reflect.TypeFor[Config]().FieldByName(pe.Name)
	name := field.Tag.Get("env")
	want := map[reflect.Type]string{
		reflect.TypeFor[time.Duration](): "a duration such as 30s, 5m or 6h",
		reflect.TypeFor[int]():           "a whole number",
		reflect.TypeFor[int32]():         "a whole number",
		reflect.TypeFor[int64]():         "a whole number",
		reflect.TypeFor[[]int64]():       "whole numbers separated by commas",
		reflect.TypeFor[Networks]():      "networks separated by commas, such as 10.0.0.0/8,127.0.0.1/32",
	}[field.Type]
	return problem(name, "is %q: want %s", vars[name], want)
}

// Networks is a list of networks or single addresses, separated by commas.
type Networks []netip.Prefix

// UnmarshalText reads CIDRs and plain addresses.
func (n *Networks) UnmarshalText(text []byte) error {
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			a, aerr := netip.ParseAddr(part)
			if aerr != nil {
				return err
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		*n = append(*n, p.Masked())
	}
	return nil
}

// readSecrets fills each secret that comes by file, and takes off the space
// around it that copying brings.
func (c *Config) readSecrets() error {
	for _, s := range []struct {
		name, file string
		value      *string
	}{
		{"TELEGRAM_BOT_TOKEN", c.BotTokenFile, &c.BotToken},
		{"DATABASE_URL", c.DatabaseURLFile, &c.DatabaseURL},
		{"LLM_API_KEY", c.LLMAPIKeyFile, &c.LLMAPIKey},
		{"PAYMENT_PROVIDER_TOKEN", c.ProviderTokenFile, &c.ProviderToken},
	} {
		*s.value = strings.TrimSpace(*s.value)
		if s.file == "" {
			continue
		}
		if *s.value != "" {
			return problem(s.name+"_FILE", "and %s are both set: keep one of them", s.name)
		}
		var err *Error
		if *s.value, err = readSecret(s.name+"_FILE", s.file); err != nil {
			return err
		}
	}
	return nil
}

// readSecret reads the file that a variable names. An empty one is a mistake:
// taken for "not set" it would mean something else, such as a private database.
func readSecret(variable, file string) (string, *Error) {
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "", problem(variable, "names %s, which user %d may not read: give that user the right (chmod 444, in a folder that others cannot enter)", file, os.Getuid())
	case errors.Is(err, fs.ErrNotExist):
		return "", problem(variable, "names %s, which is not there: create it, or correct the name", file)
	case err != nil:
		return "", problem(variable, "names a file that cannot be read: %v", err)
	}
	secret := strings.TrimSpace(string(b))
	if secret == "" {
		return "", problem(variable, "names %s, which is empty: write the secret into it", file)
	}
	return secret, nil
}

func (c *Config) check() error {
	checks := []func() *Error{
		c.checkTelegram, c.checkAddresses, c.checkModel, c.checkNumbers, c.checkBilling,
		oneOf("ACCESS", c.Access, "open", "invite"),
		oneOf("TELEGRAM_UPDATES", c.Updates, "polling", "webhook"),
		oneOf("BILLING", c.Billing, "off", "stars", "cards"),
		oneOf("LLM_API", c.LLMAPI, "openai", "anthropic"),
		oneOf("LOG_FORMAT", c.LogFormat, "json", "console"),
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := zerolog.ParseLevel(c.LogLevel); err != nil || c.LogLevel == "" {
		return problem("LOG_LEVEL", "is %q: want debug, info, warn or error", c.LogLevel)
	}
	return nil
}

func oneOf(name, value string, allowed ...string) func() *Error {
	return func() *Error {
		if slices.Contains(allowed, value) {
			return nil
		}
		return problem(name, "is %q: want %s", value, strings.Join(allowed, " or "))
	}
}

// checkTelegram looks at the form of the token: a number, a colon, and letters,
// digits, - and _, of which Telegram gives 35.
func (c *Config) checkTelegram() *Error {
	const variable = "TELEGRAM_BOT_TOKEN"
	if c.BotToken == "" {
		return nil
	}
	id, secret, ok := strings.Cut(c.BotToken, ":")
	if strings.ContainsAny(c.BotToken, "\"'`“”«»") {
		return problem(variable, "has quotes around it or in it: write it without (TELEGRAM_BOT_TOKEN=123456:ABC…)")
	}
	if _, err := strconv.ParseUint(id, 10, 63); err != nil || !ok || len(secret) < 20 || strings.ContainsFunc(secret, notInToken) {
		return problem(variable, "does not look like a bot's token (123456:ABC…): copy it whole from @BotFather, with nothing before or after it")
	}
	return nil
}

func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func (c *Config) checkAddresses() *Error {
	for name, v := range map[string]string{"TELEGRAM_API_URL": c.APIURL, "TELEGRAM_PREVIEW_URL": c.PreviewURL, "PUBLIC_URL": c.PublicURL, "LLM_BASE_URL": c.LLMBaseURL} {
		if v == "" {
			continue
		}
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return problem(name, "is no web address: want https://host/path")
		}
	}
	if c.PublicURL != "" && !strings.HasPrefix(c.PublicURL, "https://") {
		return problem("PUBLIC_URL", "is %q: Telegram opens https addresses only", c.PublicURL)
	}
	if c.Updates == "webhook" && c.PublicURL == "" {
		return problem("PUBLIC_URL", "is empty: TELEGRAM_UPDATES=webhook needs the https address at which Telegram reaches this program")
	}
	return nil
}

func (c *Config) checkModel() *Error {
	ownAddress := c.LLMAPI == "anthropic" // it has a default
	if c.LLMBaseURL != "" && c.LLMModel == "" || c.LLMBaseURL == "" && c.LLMModel != "" && !ownAddress {
		return problem("LLM_MODEL", "and LLM_BASE_URL go together: set both, or neither for the built-in drafting")
	}
	return nil
}

// checkBilling looks at the form of the provider token: <shop>:LIVE:<secret>, or TEST.
func (c *Config) checkBilling() *Error {
	if c.ProviderToken == "" {
		return nil
	}
	shop, rest, ok := strings.Cut(c.ProviderToken, ":")
	mode, secret, more := strings.Cut(rest, ":")
	if _, err := strconv.ParseInt(shop, 10, 64); err != nil || !ok || !more || mode == "" || secret == "" {
		return problem("PAYMENT_PROVIDER_TOKEN", "does not look like a payment provider's token (123456:LIVE:…): copy it from @BotFather, under Payments")
	}
	return nil
}

func (c *Config) checkNumbers() *Error {
	for name, n := range map[string]int{"WORKERS_CRITICAL": c.WorkersCritical, "WORKERS_DEFAULT": c.WorkersDefault, "WORKERS_BULK": c.WorkersBulk} {
		if n < 1 || n > 1000 {
			return problem(name, "is %d: want 1 to 1000", n)
		}
	}
	for name, n := range map[string]int{"KEEP_TEXTS_DAYS": c.KeepTextsDays, "KEEP_MODEL_ANSWERS_DAYS": c.KeepAnswersDays} {
		if n < 7 || n > 36500 {
			return problem(name, "is %d: want 7 to 36500 days", n)
		}
	}
	switch {
	case c.DatabaseConns < 4:
		return problem("DATABASE_CONNS", "is %d: want at least 4", c.DatabaseConns)
	case c.PollMin < time.Second:
		return problem("POLL_INTERVAL_MIN", "is %s: want at least 1s", c.PollMin)
	case c.PollMax < c.PollMin:
		return problem("POLL_INTERVAL_MAX", "is %s, below POLL_INTERVAL_MIN (%s)", c.PollMax, c.PollMin)
	case c.ShutdownGrace < 0:
		return problem("SHUTDOWN_GRACE", "is %s: want 0s or more", c.ShutdownGrace)
	case c.BudgetDay < 0:
		return problem("MODEL_BUDGET_DAY", "is %d: want 0 (unlimited) or more tokens", c.BudgetDay)
	case c.BudgetChannel < 0:
		return problem("MODEL_BUDGET_CHANNEL_DAY", "is %d: want 0 (unlimited) or more tokens", c.BudgetChannel)
	}
	return nil
}

// NeedToken fails when no bot token is set.
func (c *Config) NeedToken() error {
	if c.BotToken == "" {
		return problem("TELEGRAM_BOT_TOKEN", "is not set: get a token from @BotFather and set it (or try `postonce demo`, which needs none)")
	}
	return nil
}

// DirectURL is where LISTEN and migrations connect: past a pooler if one stands between.
func (c *Config) DirectURL() string {
	if c.DatabaseDirectURL != "" {
		return c.DatabaseDirectURL
	}
	return c.DatabaseURL
}
