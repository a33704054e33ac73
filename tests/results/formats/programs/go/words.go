// Package words joins words in two ways.
package words

import "strings"

func Plus(words []string) string {
	joined := ""
	for _, word := range words {
		joined += word
	}
	return joined
}

func Builder(words []string) string {
	var joined strings.Builder
	for _, word := range words {
		joined.WriteString(word)
	}
	return joined.String()
}
