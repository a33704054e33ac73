import { bench, describe } from "vitest";

describe("join", () => {
  for (const n of [10, 100]) {
    const words = Array.from({ length: n }, (_, i) => `word${i}`);
    bench(`array ${n}`, () => {
      words.join(" ");
    }, { time: 30, iterations: 5, warmupTime: 5, warmupIterations: 1 });
    bench(`plus ${n}`, () => {
      words.reduce((all, one) => all + " " + one, "");
    }, { time: 30, iterations: 5, warmupTime: 5, warmupIterations: 1 });
  }
  describe("nested", () => {
    bench("concat", () => {
      "a".concat("b");
    }, { time: 20, iterations: 5, warmupTime: 5, warmupIterations: 1 });
  });
});
