
// ---- The timeline: a lane for each worker and thread. On a device's lane a block is one partition, cut into its stages.

const state = { tracks: [], offset: 0, window: 300, paused: false, open: false, lastAnswer: 0, gone: false, status: null,
  history: null };
// The daemon's clock now, in seconds, from what it said last.
const serverNow = () => performance.now() / 1000 + state.offset;

const CLASSES = [['synthesis', /^(synthesis|parse)/], ['copy', /^(h2d|d2h)/], ['wait', /wait/],
  ['transforms', /^transforms/], ['msm', /^msm/], ['finish', /^(assemble|verify)/], ['load', /^load/]];
const classOf = (name) => (CLASSES.find(([, pattern]) => pattern.test(name)) ?? ['running'])[0];

function orderOf(name) {
  const groups = ['device', 'synthesis', 'finisher', 'loader'];
  const group = groups.findIndex((g) => name.startsWith(g));
  return group < 0 ? groups.length : group;
}

// Bars of one partition on one device worker become one block; every other bar is a block of its own.
function blocksOf(track) {
  const blocks = [];
  for (const bar of track.bars) {
    const last = blocks.at(-1);
    const same = last && bar.key !== null && last.key === bar.key && last.partition === bar.partition
      && track.name.startsWith('device') && bar.begin < last.end + 0.5;
    if (same) {
      last.bars.push(bar);
      last.begin = Math.min(last.begin, bar.begin);
      last.end = Math.max(last.end, bar.end);
    } else {
      blocks.push({ key: bar.key, job: bar.job_id, partition: bar.partition, begin: bar.begin, end: bar.end, bars: [bar],
        count: 1 });
    }
  }
  return blocks.sort((a, b) => a.begin - b.begin);
}

function takeTimeline(answer) {
  state.offset = answer.now - performance.now() / 1000;
  state.tracks = answer.tracks.filter((track) => !track.name.endsWith('queue'))
    .map((track) => ({ name: track.name, blocks: blocksOf(track) }));
}

// The stages of a partition that is under way, as the last one on its lane took them: a device tells its own stages only
// at the end. What goes beyond them stays without a name.
function expectedBars(blocks, begin, end) {
  const last = blocks.findLast((block) => block.bars.length > 1 && block.count === 1);
  const bars = [];
  for (const bar of last?.bars ?? []) {
    const from = begin + bar.begin - last.begin, to = begin + bar.end - last.begin;
    if (from < end) bars.push({ name: bar.name, begin: from, end: Math.min(to, end) });
  }
  const known = Math.max(begin, ...bars.map((bar) => bar.end));
  if (known < end) bars.push({ name: 'running', begin: known, end });
  return bars;
}

// Tracks of workers that have not done anything yet are shown as well.
function lanesNow() {
  const lanes = new Map(state.tracks.map((track) => [track.name, [...track.blocks]]));
  for (const worker of state.status?.gpu_workers ?? []) {
    const blocks = lanes.get(worker.track) ?? [];
    lanes.set(worker.track, blocks);
    if (worker.busy_secs === null) continue;
    const begin = serverNow() - worker.busy_secs;
    blocks.push({ key: 'now', job: worker.current_job, partition: worker.current_partition, begin, end: serverNow(),
      bars: expectedBars(blocks, begin, serverNow()), count: 1, running: true });
  }
  return [...lanes].map(([name, blocks]) => ({ name, blocks }))
    .sort((a, b) => orderOf(a.name) - orderOf(b.name) || a.name.localeCompare(b.name, 'en', { numeric: true }));
}

// Blocks that would be thinner than what can be seen or hit are drawn as one.
function merged(blocks, from, second) {
  const shown = [];
  for (const block of blocks) {
    if (block.end < from) continue;
    const last = shown.at(-1);
    const thin = (b) => (b.end - b.begin) * second < 4;
    if (last && !block.running && (thin(block) || thin(last)) && (block.begin - last.end) * second < 1) {
      last.bars = [...last.bars, ...block.bars];
      last.end = Math.max(last.end, block.end);
      last.count += block.count;
    } else {
      shown.push({ ...block });
    }
  }
  return shown;
}

function describe(block) {
  const ago = block.running ? 'under way' : `ended ${duration(serverNow() - block.end)} ago`;
  if (block.count > 1) return `${block.count} pieces of work in ${duration(block.end - block.begin)}, ${ago}`;
  const of = block.job === null ? '' : `partition ${block.partition} of ${plain(block.job)}, `;
  const stages = block.bars.filter((bar) => bar.name !== 'running')
    .map((bar) => `${bar.name} ${duration(bar.end - bar.begin)}`).join(', ');
  const as = block.running ? ', stages as in the partition before' : '';
  return `${of}${duration(block.end - block.begin)}${stages ? `${as}: ${stages}` : ''}; ${ago}`;
}

function updateBlock(node, block, view) {
  const place = (t) => 100 * (t - view.from) / state.window;
  const left = Math.max(0, place(block.begin));
  node.style.left = `${left.toFixed(3)}%`;
  node.style.width = `${Math.max(0, Math.min(100, place(block.end)) - left).toFixed(3)}%`;
  setClass(node, block.running ? 'block running' : 'block');
  node.type = 'button';
  node.tabIndex = node.dataset.chosen === undefined ? -1 : 0;
  node.block = block;
  node.setAttribute('aria-label', describe(block));
  const span = Math.max(block.end - Math.max(block.begin, view.from), 1e-6);
  const parts = block.bars;
  const visible = parts.filter((bar) => bar.end > view.from).map((bar) => ({
    kind: classOf(bar.name), left: Math.max(0, (bar.begin - Math.max(block.begin, view.from)) / span),
    right: (bar.end - Math.max(block.begin, view.from)) / span }));
  keyed(part(node, 'stages', 'span', ''), visible, 'i', (s) => s.kind, (seg, s) => {
    setClass(seg, `seg ${s.kind}`);
    seg.style.left = `${(100 * s.left).toFixed(2)}%`;
    seg.style.width = `${(100 * (s.right - s.left)).toFixed(2)}%`;
  });
  const wide = (block.end - block.begin) * view.second > 30 && block.partition !== null && block.count === 1;
  setText(part(node, 'name', 'b', ''), wide ? `${block.partition}` : '');
}

function drawTimeline() {
  const from = serverNow() - state.window;
  const lanes = lanesNow();
  const focused = document.activeElement;
  const lane = focused?.closest?.('.lane');
  keyed($('tracks'), lanes, 'div', (lane) => lane.name, (node, lane) => {
    setClass(node, 'track');
    setText(part(node, 'title', 'h3', ''), lane.name);
    const place = part(node, 'lane', 'div');
    place.setAttribute('role', 'group');
    place.setAttribute('aria-label', lane.name);
    const view = { from, second: Math.max(1, place.clientWidth) / state.window };
    const blocks = merged(lane.blocks, from, view.second);
    keyed(place, blocks, 'button', (b) => `${b.key} ${b.partition} ${b.running ? '' : b.begin}`,
      (button, block) => updateBlock(button, block, view));
    // One stop for the Tab key in each lane: the chosen block, else the latest.
    const buttons = [...place.children];
    if (!buttons.some((b) => b.tabIndex === 0) && buttons.length) buttons.at(-1).tabIndex = 0;
  });
  if (lane && !focused.isConnected) lane.lastElementChild?.focus();
  const ticks = $('axis').children;
  setText(ticks[0], `${state.window / 60} min ago`);
  setText(ticks[1], state.window === 60 ? '30 s ago' : `${state.window / 120} min ago`);
}

function choose(node) {
  for (const other of document.querySelectorAll('.block[data-chosen]')) delete other.dataset.chosen;
  node.dataset.chosen = '';
  setText($('detail'), `${node.parentNode.getAttribute('aria-label')}: ${describe(node.block)}.`);
}

function listenToTimeline() {
  const tracks = $('tracks');
  const blockAt = (event) => event.target.closest?.('.block');
  for (const kind of ['click', 'focusin', 'mouseover']) {
    tracks.addEventListener(kind, (event) => blockAt(event) && choose(blockAt(event)));
  }
  tracks.addEventListener('keydown', (event) => {
    const node = blockAt(event);
    const steps = { ArrowLeft: 'previousElementSibling', ArrowRight: 'nextElementSibling' };
    let next = node && steps[event.key] && node[steps[event.key]];
    if (node && event.key === 'Home') next = node.parentNode.firstElementChild;
    if (node && event.key === 'End') next = node.parentNode.lastElementChild;
    if (node && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      const lanes = [...tracks.querySelectorAll('.lane')].filter((lane) => lane.children.length);
      next = lanes[lanes.indexOf(node.parentNode) + (event.key === 'ArrowUp' ? -1 : 1)]?.lastElementChild;
    }
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  for (const radio of document.querySelectorAll('[name=window]')) {
    radio.addEventListener('change', () => {
      state.window = Number(radio.value);
      drawTimeline();
    });
  }
  addEventListener('resize', drawTimeline);
}

// ---- Asking, again and again.

async function ask(path) {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(GIVE_UP) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

function showGone(gone) {
  state.gone = gone;
  document.body.classList.toggle('stale', gone);
  const note = $('gone');
  note.hidden = !gone;
  if (!gone) return;
  const since = state.lastAnswer ? new Date(state.lastAnswer).toLocaleTimeString() : '';
  setText(note, since ? `The daemon has not answered since ${since}. This page shows its state at that time.`
    : 'The daemon does not answer.');
  setText($('state'), 'No answer');
  setClass($('state'), 'pill bad');
  setTitle('no answer · ');
}

// A page that is paused looks like one of a daemon that does nothing: it says what it is.
function showPaused() {
  $('paused').hidden = !state.paused;
  if (state.paused) {
    const since = state.lastAnswer ? ` It shows the state at ${new Date(state.lastAnswer).toLocaleTimeString()}.` : '';
    setText($('paused'), `This page is paused; the daemon is not.${since}`);
    setText($('state'), 'Paused');
    setClass($('state'), 'pill warn');
    setTitle('paused · ');
  } else if (state.status) {
    showOverview(state.status);
  }
}

function show(status) {
  state.status = status;
  state.lastAnswer = Date.now();
  if (state.gone) showGone(false);
  showTroubles(status);
  showOverview(status);
  showJobs(status);
  drawTimeline();
  showDevices(status);
  showMemory(status.memory);
  showParameters(status.allocations.srs);
  showErrors(status.last_errors);
}

let timelineDue = 0, historyDue = 0;

async function answers() {
  try {
    const timeline = performance.now() >= timelineDue ? await ask('timeline') : null;
    const history = performance.now() >= historyDue ? await ask('history') : null;
    return { timeline, history, status: await ask('status') };
  } catch (error) {
    return null;
  }
}

async function round() {
  if (!state.paused && !document.hidden) {
    const said = await answers();
    if (said === null) {
      timelineDue = historyDue = 0;
      showGone(true);
    } else {
      if (said.timeline) {
        takeTimeline(said.timeline);
        timelineDue = performance.now() + TIMELINE_EVERY - STATUS_EVERY / 2;
      }
      if (said.history) {
        state.history = said.history;
        historyDue = performance.now() + HISTORY_EVERY - STATUS_EVERY / 2;
      }
      show(said.status);
      if (said.history) {
        showHistory();
        showDay();
      }
    }
  }
  setTimeout(round, STATUS_EVERY);
}

$('pause').addEventListener('click', () => {
  state.paused = !state.paused;
  $('pause').setAttribute('aria-pressed', `${state.paused}`);
  setText($('pause'), state.paused ? 'Resume' : 'Pause');
  showPaused();
});
listenToTimeline();
round();
