package billing

import (
	"fmt"
	"strconv"
	"strings"
)

// Telegram's list of currencies (core.telegram.org/bots/payments/currencies.json),
// by the digits of their smallest unit.
const (
	wholeCurrencies = " CLP ISK JPY KRW PYG UGX VND "
	centCurrencies  = " AED AFN ALL AMD ARS AUD AZN BAM BDT BGN BND BOB BRL BYN CAD CHF CNY COP CRC CZK DKK DOP DZD EGP " +
		"ETB EUR GBP GEL GTQ HKD HNL HUF IDR ILS INR JMD KES KGS KZT LBP LKR MAD MDL MNT MOP MUR MVR MXN MYR MZN NGN NIO " +
		"NOK NPR NZD PAB PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TJS TRY TTD TWD TZS UAH USD UYU UZS YER ZAR "
)

// minorDigits is how many digits of an amount stand after the point.
func minorDigits(currency string) (digits int, known bool) {
	switch {
	case len(currency) != 3:
		return 0, false
	case currency == "XTR" || strings.Contains(wholeCurrencies, " "+currency+" "):
		return 0, true
	case strings.Contains(centCurrencies, " "+currency+" "):
		return 2, true
	}
	return 0, false
}

// Money writes an amount in its smallest unit for people: "250 ⭐", "4.99 EUR".
// It is the same in every language.
func Money(amount int64, currency string) string {
	if currency == "XTR" {
		return strconv.FormatInt(amount, 10) + " ⭐"
	}
	digits, _ := minorDigits(currency)
	if digits == 0 {
		return strconv.FormatInt(amount, 10) + " " + currency
	}
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, amount/100, amount%100, currency)
}
