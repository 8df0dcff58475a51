// ---- Charts of 24 hours, on canvases, with words for those who do not see them.

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Draws series over each other, or as stacked columns; `values` are from the oldest to the present, null where nothing
// is known. `most`: the value at the top; absent: the highest.
function drawSeries(canvas, chart) {
  const lengths = chart.series.map((s) => s.values.length);
  const slots = Math.max(1, ...lengths);
  const totals = Array.from({ length: slots }, (_, i) => chart.series.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const seen = totals.filter((_, i) => chart.series.some((s) => (s.values[i] ?? null) !== null));
  const top = chart.most ?? Math.max(1, ...totals);
  const now = seen.at(-1), highest = Math.max(0, ...seen);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', seen.length ? `${chart.label}: now ${chart.text(now)}, at most ${chart.text(highest)}`
    : `${chart.label}: nothing yet`);
  const scale = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
  if (!width || !height) return;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = canvas.getContext('2d');
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = colourOf('--line');
  pen.fillRect(0, height - 1, width, 1);
  const step = width / slots;
  const base = new Array(slots).fill(0);
  for (const series of chart.series) {
    pen.fillStyle = colourOf(series.colour);
    series.values.forEach((value, i) => {
      if (!value) return;
      const from = base[i] / top, size = Math.max(1, (value / top) * height);
      pen.fillRect(i * step, height - from * height - size, Math.max(1, step - (step > 3 ? 1 : 0)), size);
      base[i] += value;
    });
  }
}

const KIND_COLOURS = { porep: '--synthesis', window: '--copy', winning: '--transforms', snap: '--msm' };

// Sums of six slots, so that a column is half an hour.
function halfHours(values) {
  const sums = [];
  for (let i = 0; i < values.length; i += 6) {
    const six = values.slice(i, i + 6).filter((v) => v !== null);
    sums.push(six.length ? six.reduce((a, b) => a + b, 0) : null);
  }
  return sums;
}

function chartsOf(day) {
  const devices = day.busy.length;
  const busy = devices ? day.busy[0].map((_, i) => (day.busy[0][i] === null ? null
    : day.busy.reduce((sum, device) => sum + (device[i] ?? 0), 0) / devices)) : [];
  return [
    { label: 'Proofs each half hour', text: (v) => `${v}`, kinds: true,
      series: Object.entries(day.proofs).map(([kind, values]) => ({ values: halfHours(values), colour: KIND_COLOURS[kind] ?? '--accent' })) },
    { label: 'Devices busy', text: (v) => percent(v, 1), most: 1, series: [{ values: busy, colour: '--accent' }] },
    { label: 'Jobs waiting', text: (v) => `${v}`, series: [{ values: day.waiting, colour: '--running' }] },
    { label: 'Memory budget', text: (v) => percent(v, 1), most: 1, series: [{ values: day.memory, colour: '--load' }] },
  ];
}

function showDay() {
  const day = state.history?.day;
  if (!day) return;
  const hour = Object.entries(day.last_hour).filter(([, n]) => n).map(([kind, n]) => `${n} ${kind}`).join(', ');
  setText($('hour'), `last hour: ${hour || 'no proofs'}${day.failed_last_hour ? `, ${day.failed_last_hour} failed` : ''}`);
  keyed($('day'), chartsOf(day), 'li', (chart) => chart.label, (node, chart) => {
    const head = part(node, 'head', 'p', 'chart-head');
    setText(part(head, 'name', 'span', ''), chart.label);
    const values = chart.series.map((s) => s.values.at(-1) ?? 0);
    setText(part(head, 'now', 'b', ''), chart.text(values.reduce((a, b) => a + b, 0)));
    drawSeries(part(node, 'canvas', 'canvas', 'chart'), chart);
    if (!chart.kinds) return;
    keyed(part(node, 'keys', 'p', 'chart-keys'), Object.keys(day.proofs), 'span', (kind) => kind, (key, kind) => {
      part(key, 'dot', 'i', `dot ${kind}`);
      setText(part(key, 'name', 'span', ''), kind);
    });
  });
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showDay);
addEventListener('resize', showDay);
