package verdict_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Gateways and services answer in the language of who runs them, or of the client.
func TestParseHint_OtherLanguages(t *testing.T) {
	testHints(t, now, []hintTest{
		{"Zu viele Anfragen. Bitte versuchen Sie es in 30 Sekunden erneut.", after(30 * time.Second)},
		{"Bitte in 2 Stunden und 5 Minuten noch einmal versuchen.", after(125 * time.Minute)},
		{"Kontingent (60 Anfragen in 1 Minute) erschöpft, in etwa 12 Minuten wieder verfügbar", after(12 * time.Minute)},
		{"Das Limit wird um 15:04 Uhr zurückgesetzt.", inferred("2026-11-15T15:04:00Z")},
		{"Ihr Limit wird am 18.11.2026 um 5:23 Uhr zurückgesetzt.", inferred("2026-11-18T05:23:00Z")},
		{"Versuchen Sie es am 18. November 2026 um 15:04 Uhr erneut.", inferred("2026-11-18T15:04:00Z")},
		{"Versuchen Sie es morgen um 09:30 Uhr wieder.", inferred("2026-11-16T09:30:00Z")},
		{"Trop de requêtes. Veuillez réessayer dans 45 secondes.", after(45 * time.Second)},
		{"Réessayez dans environ 2 heures et 5 minutes.", after(125 * time.Minute)},
		{"Quota épuisé : il sera réinitialisé à 15h04.", inferred("2026-11-15T15:04:00Z")},
		{"Votre limite sera réinitialisée le 18/11/2026 à 05:23.", inferred("2026-11-18T05:23:00Z")},
		{"Le service sera à nouveau disponible demain à 9h30.", inferred("2026-11-16T09:30:00Z")},
		{"Inténtelo de nuevo en 30 segundos.", after(30 * time.Second)},
		{"El límite se restablecerá a las 15:04.", inferred("2026-11-15T15:04:00Z")},
		{"请求过于频繁,请在 30 秒后重试。", after(30 * time.Second)},
		{"请 1 小时 5 分钟后再试", after(65 * time.Minute)},
		{"已达到 5 小时的使用上限。您的限额将在 2026-11-18 05:23:03 重置。", inferred("2026-11-18T05:23:03Z")},
		{"您的额度将于2026年11月18日 05:23(北京时间)恢复", at("2026-11-17T21:23:00Z")},
		{"限额将在 15:04 刷新", inferred("2026-11-15T15:04:00Z")},
		{"将在下午3:04重置", inferred("2026-11-15T15:04:00Z")},
		{"リクエストが多すぎます。30秒後に再試行してください。", after(30 * time.Second)},
		{"1時間30分後にもう一度お試しください。", after(90 * time.Minute)},
		{"制限は15:04にリセットされます。", inferred("2026-11-15T15:04:00Z")},
		{"5時間の利用上限に達しました。2026年11月18日 05:23に再開します。", inferred("2026-11-18T05:23:00Z")},
	})
	for _, text := range []string{
		"60 Anfragen in 1 Minute sind erlaubt.",
		"Die Verbindung wurde um 15:04 Uhr getrennt.",
		"Bitte versuchen Sie es später erneut.",
		"Veuillez réessayer plus tard.",
		"La limite est de 60 requêtes par minute.",
		"已达到 5 小时的使用上限",
		"5時間の利用上限に達しました。後でもう一度お試しください。",
		"请稍后重试",
		"in 5 Versuchen wieder gescheitert",
		"nach 3 Fehlern wieder verbunden",
	} {
		if h, ok := verdict.ParseHint(text, now); ok {
			t.Errorf("%q: %+v", text, h)
		}
	}
}

// Times as gateways write them.
func TestParseHint_Gateways(t *testing.T) {
	const day = 24 * time.Hour
	testHints(t, now, []hintTest{
		{"Out of call volume quota. Quota will be replenished in 02:12:45.", after(2*time.Hour + 12*time.Minute + 45*time.Second)},
		{`{"message": "Out of call volume quota. Quota will be replenished in 5.03:23:11"}`, after(5*day + 3*time.Hour + 23*time.Minute + 11*time.Second)},
		{"try again in 00:01:30", after(90 * time.Second)},
		{"Retry-After: 00:01:30", after(90 * time.Second)},
		{`"retryDelay": "0:00:12"`, after(12 * time.Second)},
		{`"resetTime": "14:05"`, inferred("2026-11-15T14:05:00Z")},
		{"quota reset time: 14:05:30", inferred("2026-11-15T14:05:30Z")},
		{"Limit reset: 3:30pm UTC", inferred("2026-11-15T15:30:00Z")},
		{"You are rate limited until 14:05", inferred("2026-11-15T14:05:00Z")},
		{"Your key is suspended until 2026-11-18T05:23:03Z.", at("2026-11-18T05:23:03Z")},
		{"available at 2026-11-18T05:23:03Z", at("2026-11-18T05:23:03Z")},
		{"It will be available again at 14:05.", inferred("2026-11-15T14:05:00Z")},
		{"Access resets at 10:57 PM GMT-3.", inferred("2026-11-15T01:57:00Z")},
	})
	for _, text := range []string{
		"try again in 1:30", "try again in 00:99:00", "try again in 10:20:30:40", "valid until 2026-11-18T05:23:03Z", "reset: 3", "resets: soon",
		"replenished", "quota will be replenished soon", "available at /home/user", "wait until done", "limited until further notice",
	} {
		if h, ok := verdict.ParseHint(text, now); ok {
			t.Errorf("%q: %+v", text, h)
		}
	}
}
