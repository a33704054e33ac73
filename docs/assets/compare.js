/* Compares two rows: their ratio, its 95 % interval if the same blocks measured both, and what differs in how they were
   measured. Rows come from the JSON below the table. The form offers the rows of one experiment and of its control; the
   choice is in the address, ?one=KEY&other=KEY, which may also name rows of two experiments; ?experiment=NAME opens an
   experiment. The interval is computed as in mongo_tables/results/intervals.py: Student's t over the logarithms of the
   ratios of blocks or, for 20 blocks and more, signed ranks (Hodges and Lehmann). tests/browser/test_compare.py compares the two programs. */
(() => {
  const place = document.getElementById("compare-form");
  const source = document.querySelector('#compare-rows a[href$=".json"]');
  if (!place || !source) return;

  const LEAST_BLOCKS = 3;
  const RANKS_FROM = 20;
  const TAIL = 0.025;

  const sum = (values) => values.reduce((all, one) => all + one, 0);
  const mean = (values) => sum(values) / values.length;
  const ascending = (values) => [...values].sort((a, b) => a - b);
  const median = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;

  // The chance that |t| is larger (Abramowitz and Stegun, 26.7.3 and 26.7.4).
  function beyond(t, degrees) {
    const angle = Math.atan(t / Math.sqrt(degrees));
    const odd = degrees % 2;
    let term = odd ? Math.cos(angle) : 1;
    let within = degrees === 1 ? 0 : term;
    for (let step = odd ? 3 : 2; step < degrees; step += 2) {
      term *= ((step - 1) / step) * Math.cos(angle) ** 2;
      within += term;
    }
    return 1 - (odd ? (2 / Math.PI) * (angle + Math.sin(angle) * within) : Math.sin(angle) * within);
  }

  function tQuantile(degrees) {
    let [low, high] = [0, 1e4];
    for (let step = 0; step < 200; step += 1) {
      const middle = (low + high) / 2;
      if (beyond(middle, degrees) > 2 * TAIL) low = middle;
      else high = middle;
    }
    return high;
  }

  // How many Walsh averages lie outside the interval at each end.
  function criticalRank(blocks) {
    let chances = [1];
    for (let rank = 1; rank <= blocks; rank += 1) {
      const next = new Array(chances.length + rank).fill(0);
      chances.forEach((chance, at) => {
        next[at] += chance / 2;
        next[at + rank] += chance / 2;
      });
      chances = next;
    }
    let [rank, all] = [-1, 0];
    while (all + chances[rank + 1] <= TAIL) all += chances[(rank += 1)];
    return rank;
  }

  function interval(speeds, references) {
    const logs = speeds.map((speed, at) => Math.log(speed) - Math.log(references[at]));
    if (logs.length < LEAST_BLOCKS) return { ratio: Math.exp(mean(logs)) };
    if (logs.length >= RANKS_FROM) {
      const walsh = ascending(logs.flatMap((one, at) => logs.slice(at).map((other) => (one + other) / 2)));
      const outside = criticalRank(logs.length);
      const [low, high] = [walsh[outside], walsh[walsh.length - 1 - outside]].map(Math.exp);
      return { ratio: Math.exp(median(walsh)), low, high };
    }
    const middle = mean(logs);
    const spread = Math.sqrt(sum(logs.map((one) => (one - middle) ** 2)) / (logs.length - 1) / logs.length);
    const half = tQuantile(logs.length - 1) * spread;
    return { ratio: Math.exp(middle), low: Math.exp(middle - half), high: Math.exp(middle + half) };
  }

  // The speed in each block: the geometric mean of its windows.
  function blocksOf(row) {
    const found = new Map();
    for (const { block, speed } of row.windows) found.set(block, [...(found.get(block) ?? []), speed]);
    return new Map([...found].map(([block, speeds]) => [block, Math.exp(mean(speeds.map(Math.log)))]));
  }

  const PAIRED = ["experiment", "campaign"];

  // Of each campaign that measured both: the ratio of their ratios to the reference.
  const byCampaign = (one, other) => one.experiment !== other.experiment ? [] : one.each.flatMap(({ campaign, ratio }) => {
    const same = other.each.find((each) => each.campaign === campaign);
    return same ? [[campaign, ratio / same.ratio]] : [];
  });

  function compared(one, other) {
    if (one === other) return { why: "You chose the same row twice." };
    const [speeds, references] = [blocksOf(one), blocksOf(other)];
    const blocks = [...speeds.keys()].filter((block) => references.has(block));
    if (PAIRED.some((name) => one[name] !== other[name]) || !blocks.length) {
      const related = [one.control_of, one.experiment].some((name) => name && [other.control_of, other.experiment].includes(name));
      if (!related) return { why: "Not compared: the rows belong to different experiments, which did different work." };
      const why = one.experiment === other.experiment ? "the two rows were measured in different blocks" : "one row is from a control, which has its own blocks";
      return { ratio: one.speed / other.speed, why: `Not paired: ${why}, so the ratio has no interval.` };
    }
    const [ours, theirs] = [speeds, references].map((each) => blocks.map((block) => each.get(block)));
    if (!Math.min(...ours, ...theirs)) return { why: "No ratio: in at least one block, one of the rows did no work." };
    const found = interval(ours, theirs);
    const paired = `Paired: both rows were measured in ${blocks.length} block${blocks.length === 1 ? "" : "s"} of campaign ${one.campaign}`;
    const told = found.low ? `${paired}. The 95\u00a0% interval is that of this campaign alone.` : `${paired}, too few for an interval.`;
    const ratios = ascending(byCampaign(one, other).map(([, ratio]) => ratio));
    const most = ratios.at(-1);
    if (ratios[0] < 1 && most > 1) return { ...found, open: true, why: `${told} The answer is not known because the campaigns disagree on which row is faster.` };
    if (found.low <= 1 && found.high >= 1) return { ...found, open: true, why: `${told} The answer is not known because the interval includes equal speeds.` };
    if (ratios[0] < found.low || most > found.high) {
      return { ...found, apart: [ratios[0], most], why: `${told} The ratio of another campaign lies outside this interval, so the range of all campaigns is shown.` };
    }
    return { ...found, why: `${told} The findings on the pages use all campaigns, so their ratios may differ.` };
  }

  // -- what differs

  function* fields(part, name) {
    if (part && typeof part === "object" && !Array.isArray(part) && Object.keys(part).length) {
      for (const [key, value] of Object.entries(part)) yield* fields(value, name ? `${name}.${key}` : key);
    } else if (part !== undefined) yield [name, typeof part === "object" || typeof part === "boolean" ? JSON.stringify(part) : part];
  }

  // Scaled amounts, such as documents, are whole; other numbers, such as ports, have no separators.
  const amount = (name, value) => {
    if (typeof value !== "number") return value;
    const asked = name.startsWith("asked.") || name.startsWith("window.");
    return value.toLocaleString("en", { maximumFractionDigits: asked && value >= 10 ? 0 : 6, useGrouping: asked });
  };

  // asked.numberOfThreads is "asked: number of threads"; YCSB writes its parameters as one word.
  const parted = (word) => word.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/ [A-Z](?=[a-z])/g, (letter) => letter.toLowerCase())
    .replace(/^(readmodifywrite|field|read|update|insert|scan|request|record|write)(length|all)?(proportion|distribution|count|length|fields)$/,
      (_, ...parts) => parts.slice(0, 3).filter(Boolean).join(" "));
  const readable = (name) => name.replaceAll(/[_$]+/g, " ").trim().replaceAll(/ ?\. ?/g, ": ").replaceAll(/\b[a-z]\w*/g, parted)
    .replaceAll(/\b(gb|cpu|kb)\b/g, (unit) => unit.toUpperCase());

  function differences(one, other) {
    const [ours, theirs] = [one, other].map((row) => new Map([
      ...fields(row.parameters, "asked"), ...fields(row.window, "window"), ...fields(row.provenance, ""), ["campaign", row.campaign], ["campaign day", row.day],
    ]));
    const names = [...new Set([...ours.keys(), ...theirs.keys()])];
    return names.filter((name) => ours.get(name) !== theirs.get(name))
      .map((name) => [name, ...[ours, theirs].map((row) => amount(name, row.get(name) ?? "\u2013"))]);
  }

  // -- the page

  const make = (tag, ...content) => {
    const made = document.createElement(tag);
    made.append(...content);
    return made;
  };
  const digits = (value, most = 3) => value.toLocaleString("en", { maximumSignificantDigits: most });
  // As the tables have it: times from twice and half the speed on, else per cent; two digits are known at most.
  function inWords(ratio) {
    if (ratio >= 2) return `${digits(ratio, 2)} times as fast`;
    return ratio <= 0.5 ? `${digits(1 / ratio, 2)} times slower` : `${digits(100 * Math.abs(ratio - 1), 2)}\u00a0% ${ratio < 1 ? "slower" : "faster"}`;
  }
  // Both ends with one unit where they have the same: 3.9 to 6.1 times slower.
  function rangeInWords(...ends) {
    const [near, far] = ends.sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b))).map(inWords);
    const unit = near.slice(near.search(/\s/));
    return far.endsWith(unit) ? `${near.slice(0, -unit.length)} to ${far}` : `${inWords(ends[0])} to ${inWords(ends[1])}`;
  }
  const nameOf = (row) => `${row.by} (${row.title})`;

  function tableOf(title, heads, lines) {
    const headed = (scope, text) => Object.assign(make("th", text), { scope });
    const head = make("tr", ...heads.map((text) => headed("col", text)));
    const row = ([name, ...values]) => make("tr", headed("row", name), ...values.map((value) => make("td", value)));
    const box = make("div", make("table", make("caption", title), make("thead", head), make("tbody", ...lines.map(row))));
    Object.assign(box, { className: "compare-answer", tabIndex: 0, role: "group", ariaLabel: title });
    return box;
  }

  function answerOf(one, other) {
    const found = compared(one, other);
    const parts = [make("p", found.why)];
    if (found.ratio) {
      const within = found.low ? ` (${rangeInWords(found.low, found.high)})` : "";
      const plain = found.apart ? `${rangeInWords(...found.apart)}, by campaign` : `${inWords(found.ratio)}${within}`;
      const few = [one, other].some((row) => row.window.few_requests);
      const figure = few ? `${plain.endsWith(")") ? `${plain.slice(0, -1)}; ` : `${plain} (`}based on few requests)` : plain;
      const pair = one.title === other.title ? `${one.by}, compared with ${other.by} (${one.title})` : `${nameOf(one)}, compared with ${nameOf(other)}`;
      const told = found.open ? [make("strong", "Not known"), `, in this campaign ${figure}`] : [found.low ? make("strong", figure) : figure];
      const said = make("p", ...told, `: ${pair}.`);
      for (const name of ["ratio", "low", "high"]) if (found[name]) said.dataset[name] = found[name];
      parts.unshift(said);
    } else {
      parts.unshift(make("p", `${digits(one.speed)} operations/s: ${nameOf(one)}. ${digits(other.speed)} operations/s: ${nameOf(other)}.`));
    }
    // A row and its control may have the same name.
    const called = [one, other].map((row) => (one.by === other.by ? nameOf(row) : row.by));
    const speeds = [one, other].map((row, at) => [called[at], digits(row.speed), String(blocksOf(row).size), `${row.campaign} of ${row.day}`]);
    parts.push(tableOf("Speeds", ["Row", "Operations/s", "Blocks", "Campaign"], speeds));
    const campaigns = byCampaign(one, other).map(([campaign, ratio]) => [campaign, inWords(ratio)]);
    if (campaigns.length > 1) parts.push(tableOf("In each campaign", ["Campaign", "Compared"], campaigns));
    const differing = differences(one, other);
    parts.push(tableOf(differing.length ? "What differs" : "Nothing else differs", ["Field", ...called],
      differing.map(([name, ...values]) => [Object.assign(make("span", readable(name)), { title: name }), ...values])));
    return parts;
  }

  // A control belongs to the experiment whose variants it repeats.
  const experimentOf = (row) => row.control_of || row.experiment;

  function start(rows) {
    const asked = new URLSearchParams(location.search);
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const titles = new Map(rows.filter((row) => !row.control_of).map((row) => [row.experiment, row.title]));
    const option = (value, text) => Object.assign(make("option", text), { value });
    // All choices are visible, so that each takes one click.
    const list = (name, label) => {
      const choices = Object.assign(make("select"), { name, size: name === "experiment" ? 5 : 7 });
      return [choices, make("label", label, choices)];
    };
    const [[experiment, first], [one, second], [other, third]] =
      [["experiment", "Experiment"], ["one", "Row"], ["other", "Compared with"]].map((each) => list(...each));
    experiment.append(...[...titles].map(([value, title]) => option(value, title)));
    const form = Object.assign(make("form", first, second, third), { className: "compare-form" });
    const answer = make("div");
    answer.setAttribute("aria-live", "polite");

    const offer = (experiments) => {
      const offered = rows.filter((row) => experiments.includes(experimentOf(row)));
      for (const choices of [one, other]) {
        choices.replaceChildren(...[...new Set(offered.map((row) => row.title))].map((title) => {
          const some = offered.filter((row) => row.title === title);
          const label = some[0].control_of ? `Control: ${title.replace(`${titles.get(some[0].control_of)}, `, "")}` : title;
          return Object.assign(make("optgroup", ...some.map((row) => option(row.key, row.by))), { label });
        }));
      }
      [experiment.value] = experiments;
      return offered.filter((row) => !row.control_of);
    };
    const choose = (row, reference) => {
      [one.value, other.value] = [row.key, reference.key];
      answer.replaceChildren(...answerOf(row, reference));
    };
    // Until the reader chooses rows: the last variant and the reference of the experiment.
    const propose = (name) => {
      const variants = offer([name]);
      const reference = variants.find((row) => row.reference) ?? variants[0];
      choose(variants.findLast((row) => row !== reference) ?? reference, reference);
    };

    form.addEventListener("change", ({ target }) => {
      if (target === experiment) propose(experiment.value);
      else if (one.value && other.value) choose(byKey.get(one.value), byKey.get(other.value));
      const address = new URL(location.href);
      for (const each of [one, other]) address.searchParams.set(each.name, each.value);
      history.replaceState(history.state, "", address);
    });
    place.replaceChildren(form, answer);
    const pair = [one, other].map(({ name }) => byKey.get(asked.get(name)));
    if (pair.every(Boolean)) {
      offer(pair.map(experimentOf));
      choose(...pair);
    } else propose(titles.has(asked.get("experiment")) ? asked.get("experiment") : rows[0].experiment);
  }

  // A page that is opened from a folder cannot fetch the rows, and keeps the text that says what the form needs.
  if (location.protocol !== "file:") fetch(source.href).then((found) => found.json()).then(({ rows }) => start(rows), () => {});
})();
