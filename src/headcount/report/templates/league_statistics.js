  // Ranks and tests, the same as in headcount.significance.compare_ranks: Friedman's, Wilcoxon's with Holm's correction, Nemenyi's.
  const halfEven = (value) => {
    const up = Math.round(value);
    return Math.abs(value % 1) === 0.5 && up % 2 !== 0 ? up - 1 : up;
  };
  const rankData = (values) => {
    const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
    const ranks = new Array(values.length), ties = [];
    for (let start = 0; start < order.length;) {
      let stop = start + 1;
      while (stop < order.length && values[order[stop]] === values[order[start]]) stop += 1;
      for (let i = start; i < stop; i += 1) ranks[order[i]] = (start + stop + 1) / 2;
      ties.push(stop - start);
      start = stop;
    }
    return { ranks, ties };
  };
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const logGamma = (x) => {
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    const t = x + 5.5;
    return (x + 0.5) * Math.log(t) - t + Math.log(2.5066282746310005 * (1.000000000190015 + sum(c.map((v, i) => v / (x + 1 + i)))) / x);
  };
  // The incomplete beta function by its continued fraction.
  const incompleteBeta = (x, a, b) => {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
    const tiny = 1e-300, safe = (v) => (Math.abs(v) < tiny ? tiny : v);
    let c = 1, d = 1 / safe(1 - ((a + b) * x) / (a + 1)), h = d;
    for (let m = 1; m <= 1000; m += 1) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / safe(1 + even * d); c = safe(1 + even / c); h *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / safe(1 + odd * d); c = safe(1 + odd / c);
      h *= d * c;
      if (Math.abs(d * c - 1) < 1e-14) break;
    }
    return (Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) * h) / a;
  };
  const normalTail = (z) => {
    const t = 1 / (1 + 0.5 * (Math.abs(z) / Math.SQRT2));
    const c = [1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];
    const erfc = t * Math.exp((-z * z) / 2 - 1.26551223 + c.reduceRight((total, v) => t * (v + total), 0));
    return z >= 0 ? erfc / 2 : 1 - erfc / 2;
  };
  // Probability of each sum of ranks (all doubled, as ties have halves) if each sign is as likely as the other.
  const sumsOfRanks = (doubled) => {
    let chances = [1];
    for (const rank of doubled) {
      const next = new Array(chances.length + rank).fill(0);
      chances.forEach((p, i) => { next[i] += p / 2; next[i + rank] += p / 2; });
      chances = next;
    }
    return chances;
  };
  const withoutTies = new Map();
  const wilcoxon = (differences) => {
    const n = differences.length;
    if (differences.every((d) => d === 0)) return 1;
    const { ranks, ties } = rankData(differences.map(Math.abs));
    const zeros = differences.some((d) => d === 0), tied = ties.some((t) => t > 1);
    const plus = sum(ranks.map((r, i) => (differences[i] > 0 ? r : differences[i] === 0 ? r / 2 : 0)));
    if (n <= 50) {
      const doubled = ranks.filter((_, i) => differences[i] !== 0).map((r) => 2 * r);
      if (!zeros && !tied && !withoutTies.has(n)) withoutTies.set(n, sumsOfRanks(doubled));
      const chances = zeros || tied ? sumsOfRanks(doubled) : withoutTies.get(n);
      const at = Math.round(2 * sum(ranks.map((r, i) => (differences[i] > 0 ? r : 0))));
      return Math.min(1, 2 * Math.min(sum(chances.slice(0, at + 1)), sum(chances.slice(at))));
    }
    const spread = Math.sqrt((n * (n + 1) * (2 * n + 1) - sum(ties.map((t) => t ** 3 - t)) / 2) / 24);
    return Math.min(1, 2 * normalTail(Math.abs(plus - (n * (n + 1)) / 4) / spread));
  };
  const compareRanks = (errors, alpha, critical) => {
    const n = errors.length, k = errors[0].length;
    const ranks = errors.map((row) => rankData(row).ranks);
    const means = ranks[0].map((_, j) => sum(ranks.map((row) => row[j])) / n);
    const centre = (k + 1) / 2;
    const spread = sum(ranks.map((row) => sum(row.map((r) => (r - centre) ** 2)))) / (n * (k - 1));
    const chi2 = spread === 0 ? 0 : (n * sum(means.map((m) => (m - centre) ** 2))) / spread;
    const left = n * (k - 1) - chi2;
    const f = ((n - 1) * chi2) / left;
    const p = left <= 0 ? 0 : incompleteBeta((n - 1) / (n - 1 + f), ((k - 1) * (n - 1)) / 2, (k - 1) / 2);
    const pairs = (k * (k - 1)) / 2;
    const test = 2 ** (1 - n) * pairs < alpha ? "wilcoxon" : "nemenyi";
    const first = means.indexOf(Math.min(...means));
    let alike;
    if (test === "nemenyi") {
      const unit = Math.sqrt((k * (k + 1)) / (6 * n));
      alike = (a, b) => Math.abs(means[a] - means[b]) <= critical[k] * unit;
    } else {
      const tests = [];
      for (let a = 0; a < k; a += 1) for (let b = a + 1; b < k; b += 1) tests.push([wilcoxon(errors.map((row) => row[a] - row[b])), a, b]);
      tests.sort(([x], [y]) => x - y);
      // Holm: the smallest p-values are significant up to the first that is not.
      const stop = tests.findIndex(([value], i) => value * (tests.length - i) >= alpha);
      const differ = new Set(tests.slice(0, stop < 0 ? tests.length : stop).map(([, a, b]) => `${a} ${b}`));
      alike = (a, b) => !differ.has(`${Math.min(a, b)} ${Math.max(a, b)}`);
    }
    return { means, p, test, first, alike: p >= alpha ? () => true : alike };
  };
