package article

import "strings"

// IsTracking reports whether a query parameter tells where a reader came from
// rather than what he reads. Names that sites also use for content ("ref" is
// always tracking in feeds, "source" and "from" only sometimes) are judged by
// their value.
func IsTracking(name, value string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "amp;"))
	for _, prefix := range []string{
		"utm_", "utm-", "pk_", "piwik_", "matomo_", "mtm_", "hsa_", "_hs", "__hs", "oly_", "vero_", "at_",
		"ns_", "wt_", "wt.", "fb_", "ga_", "mc_", "stm_", "trk_", "itm_", "ml_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "ysclid", "twclid", "ttclid",
		"igshid", "igsh", "si", "mkt_tok", "_openstat", "openstat", "rb_clickid", "s_cid", "s_kwcid", "ref", "ref_src",
		"ref_url", "referrer", "referer", "spm", "scm", "smid", "smtyp", "ncid", "ocid", "xtor", "cmpid", "cmp", "cid_rss",
		"taid", "ito", "sr_share", "srnd", "guccounter", "guce_referrer", "guce_referrer_sig", "amp", "amp_js_v",
		"phpsessid", "jsessionid", "aspsessionid", "sessionid", "_ga", "_gl", "epik", "soc_src", "soc_trk", "usqp", "ved",
		"share_id", "share_source", "shareid", "feature", "unlocked_article_code", "rss", "wkey", "mbid", "cndid":
		return true
	case "source", "src", "from", "via", "partner", "campaign", "medium", "origin", "feed":
		return comesFrom(value)
	case "sid", "s":
		return isSession(value)
	}
	return false
}

// comesFrom recognises values that name a way in: from=rss, source=twitter.
func comesFrom(v string) bool {
	v = strings.ToLower(v)
	for _, w := range []string{
		"rss", "feed", "atom", "twitter", "telegram", "tg", "facebook", "fb", "vk", "social", "share",
		"newsletter", "email", "mail", "push", "homepage", "yandex", "zen",
	} {
		if v == w || strings.HasPrefix(v, w+"-") || strings.HasPrefix(v, w+"_") || strings.HasSuffix(v, "_"+w) || strings.HasSuffix(v, "-"+w) {
			return true
		}
	}
	return v == "feedburner"
}

// isSession recognises 32 hexadecimal digits, the session ids of PHP boards.
func isSession(v string) bool {
	return len(v) == 32 && strings.Trim(strings.ToLower(v), "0123456789abcdef") == ""
}
