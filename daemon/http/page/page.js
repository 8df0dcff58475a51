'use strict';
// Asks the daemon for its state once a second and shows it. Text from outside goes into the page as text, never as HTML.

const STATUS_EVERY = 1000, TIMELINE_EVERY = 2000, HISTORY_EVERY = 10000, GIVE_UP = 5000;
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

// ---- Words for what the daemon calls by names.

const STAGES = { queued: 'waiting', parsing: 'being read', 'loading-parameters': 'loading parameters',
  synthesis: 'in synthesis', 'waiting-device': 'waiting for a device', device: 'on a device',
  finishing: 'being assembled', verifying: 'being verified' };
const ENDS = { completed: 'proved', failed: 'failed', cancelled: 'cancelled' };

// What a job is about: a sector, or the partition of a deadline.
function subjectOf(job) {
  if (job.kind === 'window') return `partition ${job.partition_index}`;
  return job.kind === 'winning' ? '–' : `${job.sector_number}`;
}

// ---- Overview.

function tile(name, text, small = '', alarm = false) {
  return { name, text, small, alarm };
}

function showOverview(status) {
  const { counters, memory, synthesis } = status;
  const shares = status.devices.map((device) => device.busy_share);
  const busy = shares.length ? shares.reduce((a, b) => a + b, 0) / shares.length : 0;
  const lost = status.devices.filter((device) => !device.healthy).length;
  const running = sum(counters.in_progress_by_kind), waiting = sum(counters.pending_by_kind);
  const hour = state.history ? sum(state.history.day.last_hour) : null;
  const tiles = [
    tile('Running', `${running}`, count(waiting, 'waits', 'wait')),
    tile('Proofs an hour', hour === null ? '–' : `${hour}`, 'last hour'),
    tile('Completed', `${counters.total_completed}`, 'in all'),
    tile('Failed', `${counters.total_failed}`, `and ${sum(counters.cancelled_by_kind)} cancelled`),
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
  setText($('host'), plain(status.host));
  setText($('build'), `version ${status.version}, revision ${status.revision}`);
  if (state.paused) return;
  const pill = $('state');
  setText(pill, status.ready ? 'Serving' : `Not ready: ${plain(status.not_ready_reason)}`);
  setClass(pill, status.ready ? 'pill good' : 'pill warn');
  setTitle(`${status.ready ? '' : 'not ready · '}${running ? `${running} running · ` : ''}`);
}

function setTitle(what) {
  const host = state.status ? `${plain(state.status.host)} · ` : '';
  document.title = `${what}${host}cuzkd`;
}

// ---- What is wrong, each with its section of the handbook. The conditions are those of the alerts of that name.

function troublesOf(status) {
  const found = [];
  const add = (alert, text) => found.push({ alert, text });
  if (!status.ready) add('CuzkdNotReady', `Jobs are refused: ${plain(status.not_ready_reason)}`);
  status.devices.forEach((device, i) => {
    if (!device.healthy) add('CuzkdGpuLost', `Device ${i} is lost: ${plain(device.lost_reason)}`);
    if (device.service === 'quarantined') {
      add('CuzkdGpuQuarantined', `Device ${i} is taken out of service: ${plain(device.service_reason)}`);
    }
  });
  if (status.job_store_wait_secs > 10) {
    add('CuzkdJobStoreHangs', `The job store has not answered for ${duration(status.job_store_wait_secs)}`);
  }
  const unfinished = status.pipelines.filter((job) => job.finished_secs_ago === null);
  const older = (kind, seconds) => unfinished.filter((job) => job.kind === kind && job.submitted_secs_ago > seconds).length;
  if (older('winning', 18)) add('CuzkdWinningPostSlow', 'A WinningPoSt takes longer than 18 s');
  if (older('window', 1200)) add('CuzkdWindowPostLate', 'A WindowPoSt takes longer than 20 min');
  const failed = state.history?.day.failed_last_hour ?? 0;
  if (failed > 3) add('CuzkdProofsFailing', `${failed} jobs failed in the last hour`);
  if (status.allocations.srs.some((srs) => srs.development)) {
    add('CuzkdDevelopmentParameters', 'Development parameters are loaded: their maker can forge proofs');
  }
  return found;
}

function showTroubles(status) {
  keyed($('troubles'), troublesOf(status), 'li', (t) => t.text, (node, t) => {
    setClass(node, 'banner warn');
    setText(part(node, 'text', 'span'), `${t.text}. `);
    const link = part(node, 'link', 'a');
    setText(link, `What to do: ${t.alert}`);
    const target = `troubleshooting#${t.alert.toLowerCase()}`;
    if (link.getAttribute('href') !== target) link.href = target;
  });
}

// ---- Memory, parameters, errors.

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

function showMemory(memory) {
  const classes = Object.entries(memory.used_by_class);
  const node = $('memory');
  fillBar(part(node, 'bar', 'div'), classes.map(([name, used]) => (
    { name: `class-${name}`, share: memory.total_bytes ? used / memory.total_bytes : 0 })));
  showFacts(part(node, 'facts', 'dl'), [
    ['Reserved', `${bytes(memory.used_bytes)} of ${bytes(memory.total_bytes)}`],
    ...classes.map(([name, used]) => [name, bytes(used), `class-${name}`]),
    ['Highest so far', bytes(memory.peak_bytes)],
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
  $('error-list').parentNode.hidden = errors.length === 0;
  keyed($('error-list'), errors, 'li', (e) => e.text, (node, e) => {
    setText(part(node, 'ago', 'span', 'quiet'), `${duration(e.secs_ago)} ago `);
    setText(part(node, 'text', 'bdi', ''), plain(e.text));
  });
}
