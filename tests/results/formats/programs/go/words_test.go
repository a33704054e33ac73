package words

import (
	"fmt"
	"strings"
	"testing"
)

var kept string

func BenchmarkJoin(b *testing.B) {
	for _, way := range []struct {
		name string
		join func([]string) string
	}{{"plus", Plus}, {"builder", Builder}} {
		for _, n := range []int{10, 100} {
			b.Run(fmt.Sprintf("%s/n=%d", way.name, n), func(b *testing.B) {
				words := strings.Split(strings.Repeat("word ", n), " ")
				b.ReportAllocs()
				b.SetBytes(int64(4 * n))
				for i := 0; i < b.N; i++ {
					kept = way.join(words)
				}
				b.ReportMetric(float64(n), "words/op")
			})
		}
	}
}
