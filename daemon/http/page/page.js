'use strict';
// Asks the daemon for its state once a second and shows it. Text from outside goes into the page as text, never as HTML.

const STATUS_EVERY = 1000, TIMELINE_EVERY = 2000, GIVE_UP = 5000, MOST_JOBS = 40;
const $ = (id) => document.getElementById(id);

// ---- Elements: made once and changed only where something changed, so that focus and selection stay.

function element(name, className = '', text = '') {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setClass(node, text) {
  if (node.className !== text) node.className = text;
}

// A named child, made when it is first asked for.
function part(node, name, tag, className = name) {
  node.parts ??= {};
  if (!node.parts[name]) {
    node.parts[name] = element(tag, className);
    node.append(node.parts[name]);
  }
  return node.parts[name];
}

// Makes the children of `list` those of `items`, in order; a child stays as long as its key does.
function keyed(list, items, tag, keyOf, update) {
  const before = list.byKey ?? new Map();
  list.byKey = new Map();
  for (const item of items) {
    let key = keyOf(item);
    while (list.byKey.has(key)) key += '+';
    list.byKey.set(key, before.get(key) ?? element(tag));
  }
  for (const [key, node] of before) if (!list.byKey.has(key)) node.remove();
  let place = list.firstChild;
  [...list.byKey.values()].forEach((node, i) => {
    if (node === place) place = place.nextSibling;
    else list.insertBefore(node, place);
    update(node, items[i]);
  });
}

// ---- Words and figures.

function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (n >= 1024 && unit < 4) [n, unit] = [n / 1024, unit + 1];
  return `${n < 10 && unit > 0 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

function duration(seconds) {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = Math.round(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

// Text from outside, with what would not be seen or would turn its surroundings around made visible.
const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
const percent = (part, whole) => `${whole > 0 ? Math.round(100 * part / whole) : 0} %`;
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const sum = (object) => Object.values(object).reduce((a, b) => a + b, 0);

// ---- Overview.

function tile(name, text, small = '', alarm = false) {
  return { name, text, small, alarm };
}

function showOverview(status) {
  const { counters, memory, synthesis } = status;
  const shares = status.devices.map((_, i) => busyShare(status, i));
  const busy = shares.length ? shares.reduce((a, b) => a + b, 0) / shares.length : 0;
  const lost = status.devices.filter((device) => !device.healthy).length;
  const tiles = [
    tile('Running', `${sum(counters.in_progress_by_kind)}`, count(sum(counters.pending_by_kind), 'waits', 'wait')),
    tile('Completed', `${counters.total_completed}`, 'since the start'),
    tile('Failed', `${counters.total_failed}`, 'since the start'),
    tile('Devices busy', percent(busy, 1), lost ? `${lost} lost` : 'last minute', lost > 0),
    tile('Memory', percent(memory.used_bytes, memory.total_bytes), `of ${bytes(memory.total_bytes)}`),
    tile('Synthesis', `${synthesis.active}`, `of ${synthesis.max_concurrent} at once`),
    tile('Up', duration(status.uptime_secs)),
  ];
  keyed($('tiles'), tiles, 'div', (t) => t.name, (node, t) => {
    setClass(node, t.alarm ? 'tile alarm' : 'tile');
    setText(part(node, 'name', 'dt'), t.name);
    const value = part(node, 'value', 'dd');
    setText(part(value, 'text', 'span'), `${t.text} `);
    setText(part(value, 'small', 'small'), t.small);
  });
  const state = $('state');
  setText(state, status.ready ? 'Serving' : `Not ready: ${plain(status.not_ready_reason)}`);
  setClass(state, status.ready ? 'pill good' : 'pill warn');
  setText($('build'), `version ${status.version}, revision ${status.revision}`);
  const running = sum(counters.in_progress_by_kind);
  document.title = `${status.ready ? '' : 'not ready · '}${running ? `${running} running · ` : ''}cuzkd`;
}

// ---- Jobs.

const STATES = { pending: 'pending', synthesizing: 'in synthesis', synth_done: 'waiting for the device',
  gpu: 'on the device', done: 'done', failed: 'failed' };

function cellsOf(job) {
  const states = {};
  for (const p of job.partitions) states[p.state] = (states[p.state] ?? 0) + 1;
  return Object.keys(STATES).filter((s) => states[s]).map((s) => `${states[s]} ${STATES[s]}`).join(', ');
}

function updateJob(node, job) {
  const ended = job.finished_secs_ago !== null;
  setClass(node, job.state);
  const head = part(node, 'job-head', 'p');
  setText(part(head, 'kind', 'span'), `${job.proof_kind} `);
  setText(part(head, 'job-id', 'bdi'), plain(job.job_id));
  setText(part(head, 'priority', 'span'), job.priority === 'normal' ? '' : ` ${job.priority}`);
  const bar = part(node, 'progress', 'progress', '');
  if (bar.value !== job.fraction) bar.value = job.fraction;
  bar.setAttribute('aria-label', `Progress of ${plain(job.job_id)}`);
  const line = part(node, 'job-line', 'p');
  setText(part(line, 'stage', 'b'), ended ? job.state : job.stage);
  setText(part(line, 'share', 'span', ''), ended ? '' : ` ${Math.floor(100 * job.fraction)} %`);
  const partitions = job.total_partitions ? ` ${job.partitions_done} of ${count(job.total_partitions, 'partition')}` : '';
  setText(part(line, 'done', 'span', ''), partitions);
  const left = !ended && job.secs_left !== null ? ` about ${duration(job.secs_left)} left` : '';
  setText(part(line, 'left', 'span', ''), left);
  const ago = ended ? ` ended ${duration(job.finished_secs_ago)} ago` : ` accepted ${duration(job.submitted_secs_ago)} ago`;
  setText(part(line, 'ago', 'span', ''), ago);
  const cells = part(node, 'cells', 'div');
  cells.setAttribute('aria-hidden', 'true');
  keyed(cells, job.partitions, 'i', (p) => `${p.index}`, (cell, p) => {
    setClass(cell, `cell ${STATES[p.state] ? p.state : 'pending'}`);
    cell.title = `partition ${p.index}: ${STATES[p.state] ?? p.state}`
      + (p.synth_ms === null ? '' : `, synthesis ${duration(p.synth_ms / 1000)}`)
      + (p.gpu_ms === null ? '' : `, device ${duration(p.gpu_ms / 1000)}`);
  });
  setText(part(node, 'words', 'p', 'hidden-text'), job.partitions.length ? `Partitions: ${cellsOf(job)}.` : '');
  setText(part(node, 'message', 'p'), plain(job.message));
}

function showJobs(status) {
  const shown = status.pipelines.slice(0, MOST_JOBS);
  const unfinished = sum(status.counters.pending_by_kind) + sum(status.counters.in_progress_by_kind);
  setText($('jobs-count'), unfinished ? `${unfinished} unfinished` : 'none unfinished');
  keyed($('job-list'), shown, 'li', (job) => `${job.key}`, updateJob);
  const more = status.pipelines.length - shown.length;
  setText($('jobs-more'), more > 0 ? `and ${count(more, 'job')} more` : '');
}

// ---- Devices, memory, parameters, errors.

// The share of the last minute in which a worker of the device had a partition.
function busyShare(status, index) {
  const now = serverNow(), from = Math.max(now - 60, now - status.uptime_secs);
  const spans = [];
  for (const track of state.tracks) {
    if (!track.name.startsWith(`device ${index} worker `)) continue;
    for (const block of track.blocks) spans.push([Math.max(block.begin, from), Math.min(block.end, now)]);
  }
  for (const worker of status.gpu_workers) {
    if (worker.busy_secs === null || !worker.track.startsWith(`device ${index} worker `)) continue;
    spans.push([Math.max(now - worker.busy_secs, from), now]);
  }
  let busy = 0, end = from;
  for (const [a, b] of spans.sort((x, y) => x[0] - y[0])) {
    busy += Math.max(0, b - Math.max(a, end));
    end = Math.max(end, b);
  }
  return now > from ? Math.min(1, busy / (now - from)) : 0;
}

// A list of name and value; each pair is two elements of a grid.
function showFacts(list, rows) {
  list.values ??= new Map();
  for (const [name, text, colour] of rows) {
    if (!list.values.has(name)) {
      const term = element('dt');
      if (colour) term.append(element('i', colour));
      term.append(name);
      const value = element('dd');
      list.append(term, value);
      list.values.set(name, value);
    }
    setText(list.values.get(name), text);
  }
}

function fillBar(bar, shares) {
  keyed(bar, shares, 'i', (s) => s.name, (node, s) => {
    setClass(node, s.name);
    node.style.width = `${Math.min(100, 100 * s.share).toFixed(2)}%`;
  });
}

function showDevices(status) {
  const devices = status.devices.map((device, index) => ({ device, index }));
  keyed($('device-list'), devices, 'li', ({ index }) => `${index}`, (node, { device, index }) => {
    const share = busyShare(status, index);
    const title = part(node, 'title', 'h3');
    setText(part(title, 'name', 'span'), device.gpu_ordinal === null ? device.name : `${device.gpu_ordinal}: ${device.name}`);
    setText(part(title, 'tag', 'span', device.healthy ? '' : 'tag'), device.healthy ? '' : `lost: ${plain(device.lost_reason)}`);
    setClass(title.parts.tag, device.healthy ? '' : 'tag');
    fillBar(part(node, 'bar', 'div'), [{ name: 'fill', share }]);
    const mine = status.gpu_workers.filter((w) => w.track.startsWith(`device ${index} worker `));
    const used = device.memory_total_bytes - device.memory_free_bytes;
    showFacts(part(node, 'facts', 'dl'), [
      ['Busy', `${percent(share, 1)} of the last minute`],
      ['Partitions', `${device.partitions_total} computed, ${device.queued} queued`],
      ['Memory', `${bytes(used)} of ${bytes(device.memory_total_bytes)}, seen ${duration(device.memory_seen_secs_ago)} ago`],
      ['Buffers', `${bytes(device.pool_used_bytes)} lent of ${bytes(device.pool_total_bytes)} held`
        + ` (${device.pool_used_buffers} of ${device.pool_buffers})`],
      ...mine.map((w) => [`Worker ${w.track.split(' ').pop()}`, w.busy_secs === null
        ? (w.critical_only ? 'idle, kept for critical jobs' : 'idle')
        : `partition ${w.current_partition} of ${plain(w.current_job)}, for ${duration(w.busy_secs)}`]),
    ]);
  });
}

function showMemory(memory) {
  const classes = Object.entries(memory.used_by_class);
  const node = $('memory');
  fillBar(part(node, 'bar', 'div'), classes.map(([name, used]) => (
    { name: `class-${name}`, share: memory.total_bytes ? used / memory.total_bytes : 0 })));
  showFacts(part(node, 'facts', 'dl'), [
    ['Reserved', `${bytes(memory.used_bytes)} of ${bytes(memory.total_bytes)}`],
    ...classes.map(([name, used]) => [name, bytes(used), `class-${name}`]),
    ['At most so far', bytes(memory.peak_bytes)],
  ]);
}

function showParameters(list) {
  $('no-parameters').hidden = list.length > 0;
  keyed($('parameter-list'), list, 'tr', (srs) => srs.circuit_id, (row, srs) => {
    const circuit = part(row, 'circuit', 'td', '');
    setText(part(circuit, 'id', 'span', ''), srs.circuit_id);
    setText(part(circuit, 'tag', 'span', ''), srs.development ? 'development' : '');
    setClass(circuit.parts.tag, srs.development ? 'tag' : '');
    setText(part(row, 'size', 'td', ''), srs.ready ? bytes(srs.bytes) : `loading, ${percent(srs.fraction, 1)}`);
    setText(part(row, 'users', 'td', ''), srs.ref_count ? `${srs.ref_count}` : '–');
    setText(part(row, 'used', 'td', ''), srs.ref_count ? 'now' : srs.ready ? `${duration(srs.last_used_secs_ago)} ago` : '–');
  });
}

function showErrors(errors) {
  $('no-errors').hidden = errors.length > 0;
  keyed($('error-list'), errors, 'li', (e) => e.text, (node, e) => {
    setText(part(node, 'ago', 'span', 'quiet'), `${duration(e.secs_ago)} ago `);
    setText(part(node, 'text', 'bdi', ''), plain(e.text));
  });
}
