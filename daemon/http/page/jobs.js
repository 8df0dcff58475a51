// ---- Jobs: one row each, in the order in which they are proved; those that wait are one row until they are asked for.

const MOST_ROWS = 200;
const PARTITIONS = { pending: 'pending', synthesizing: 'in synthesis', synth_done: 'waiting for the device',
  gpu: 'on the device', done: 'done', failed: 'failed' };
const PRIORITIES = ['critical', 'high', 'normal', 'low'];
const chosenKind = () => document.querySelector('[name=kind]:checked').value;

function cellsOf(job) {
  const states = {};
  for (const p of job.partitions) states[p.state] = (states[p.state] ?? 0) + 1;
  return Object.keys(PARTITIONS).filter((s) => states[s]).map((s) => `${states[s]} ${PARTITIONS[s]}`).join(', ');
}

// Jobs under way, then those that wait, then those that ended a moment ago.
function inOrder(jobs) {
  const group = (job) => (job.finished_secs_ago !== null ? 2 : job.place > 0 ? 1 : 0);
  const rank = (job) => PRIORITIES.indexOf(job.priority);
  return [...jobs].sort((a, b) => group(a) - group(b)
    || (group(a) === 1 ? a.place - b.place : rank(a) - rank(b) || a.key - b.key));
}

function cell(row, name, text) {
  const node = part(row, name, 'td');
  setText(node, text);
  return node;
}

// What a row is about. Screens without columns are told that a number is a sector's.
function subjectCell(row, job) {
  const node = cell(row, 'sector', subjectOf(job));
  node.classList.toggle('number', job.kind === 'porep' || job.kind === 'snap');
  if (node.title !== `miner ${job.miner_id}`) node.title = `miner ${job.miner_id}`;
}

function updateCells(row, job) {
  const node = part(row, 'partitions', 'td');
  const cells = part(node, 'cells', 'span');
  cells.setAttribute('aria-hidden', 'true');
  keyed(cells, job.partitions.slice(0, 32), 'i', (p) => `${p.index}`, (mark, p) => {
    setClass(mark, `cell ${PARTITIONS[p.state] ? p.state : 'pending'}`);
    mark.title = `partition ${p.index}: ${PARTITIONS[p.state] ?? p.state}`
      + (p.synth_ms === null ? '' : `, synthesis ${duration(p.synth_ms / 1000)}`)
      + (p.gpu_ms === null ? '' : `, device ${duration(p.gpu_ms / 1000)}`);
  });
  setClass(cells, job.partitions.length > 10 ? 'cells many' : 'cells');
  const done = job.total_partitions ? `${job.partitions_done} of ${job.total_partitions}` : '';
  setText(part(node, 'words', 'span', 'hidden-text'), job.partitions.length ? `${done}: ${cellsOf(job)}` : done);
}

function updateProgress(row, job, ended) {
  const node = part(row, 'progress', 'td');
  const bar = part(node, 'bar', 'progress', '');
  bar.hidden = ended || job.place > 0;
  if (bar.value !== job.fraction) bar.value = job.fraction;
  bar.setAttribute('aria-label', `Progress of ${plain(job.job_id)}`);
  setText(part(node, 'share', 'span', ''), bar.hidden ? '' : ` ${Math.floor(100 * job.fraction)} %`);
}

function deadlineOf(job) {
  if (job.deadline_secs === null) return '';
  return job.deadline_secs < 0 ? 'passed' : `in ${duration(job.deadline_secs)}`;
}

function updateJob(row, job) {
  const ended = job.finished_secs_ago !== null;
  const late = job.deadline_secs !== null && job.secs_left !== null && job.secs_left > job.deadline_secs;
  setClass(row, late ? `${job.state} late` : job.state);
  cell(row, 'place', job.place > 0 ? `${job.place}` : '');
  cell(row, 'kind', job.kind);
  subjectCell(row, job);
  cell(row, 'priority', job.priority);
  cell(row, 'stage', ended ? ENDS[job.state] : STAGES[job.stage] ?? job.stage);
  updateProgress(row, job, ended);
  updateCells(row, job);
  cell(row, 'left', !ended && job.secs_left !== null ? duration(job.secs_left) : '');
  cell(row, 'deadline', ended ? '' : deadlineOf(job));
  cell(row, 'age', ended ? `${duration(job.finished_secs_ago)} ago` : duration(job.submitted_secs_ago));
  const name = part(row, 'job', 'td');
  setText(part(name, 'job-id', 'bdi'), plain(job.job_id));
  if (name.title !== job.job_id) name.title = plain(job.job_id);
  setText(part(name, 'message', 'span'), job.message ? ` ${plain(job.message)}` : '');
}

function updateWaiting(row, waiting) {
  setClass(row, 'waiting-row');
  const node = part(row, 'all', 'td');
  node.colSpan = 11;
  const button = part(node, 'button', 'button');
  if (!button.type || !button.listening) {
    button.type = 'button';
    button.listening = true;
    button.addEventListener('click', () => {
      state.open = !state.open;
      showJobs(state.status);
    });
  }
  button.setAttribute('aria-expanded', `${state.open}`);
  setText(button, `${waiting.length} waiting`);
  const kinds = {};
  for (const job of waiting) kinds[job.kind] = (kinds[job.kind] ?? 0) + 1;
  setText(part(node, 'kinds', 'span', 'quiet'), ` ${Object.entries(kinds).map(([k, n]) => `${n} ${k}`).join(', ')}; the oldest for ${
    duration(Math.max(...waiting.map((job) => job.submitted_secs_ago)))}`);
}

function showJobs(status) {
  const kind = chosenKind();
  const jobs = inOrder(status.pipelines.filter((job) => !kind || job.kind === kind));
  const waiting = jobs.filter((job) => job.place > 0 && job.finished_secs_ago === null);
  const collapse = waiting.length > 3;
  const rows = [];
  for (const job of jobs) {
    if (collapse && job === waiting[0]) rows.push({ key: 'waiting', waiting });
    if (!collapse || state.open || !waiting.includes(job)) rows.push({ key: `${job.key}`, job });
  }
  const unfinished = jobs.filter((job) => job.finished_secs_ago === null).length;
  setText($('jobs-count'), unfinished ? `${unfinished} unfinished` : 'none unfinished');
  keyed($('job-list'), rows.slice(0, MOST_ROWS), 'tr', (row) => row.key, (node, row) => {
    if (row.job) updateJob(node, row.job);
    else updateWaiting(node, row.waiting);
  });
  setText($('jobs-more'), rows.length > MOST_ROWS ? `and ${count(rows.length - MOST_ROWS, 'job')} more` : '');
}

// ---- Jobs that ended, from the history.

// "synthesis 12 s, on a device 30 s": the stages that took most of the time.
function stagesOf(job) {
  const total = Math.max(job.times_ms.total, 1);
  return Object.entries(job.times_ms).filter(([stage, ms]) => stage !== 'total' && ms * 20 >= total)
    .map(([stage, ms]) => `${STAGES[stage]} ${duration(ms / 1000)}`).join(', ');
}

function updateEnded(row, job) {
  setClass(row, job.state);
  cell(row, 'ended', `${duration(job.ended_secs_ago)} ago`);
  cell(row, 'kind', job.kind);
  subjectCell(row, job);
  const stage = job.state === 'completed' || !job.stage ? '' : ` ${STAGES[job.stage] ?? job.stage}`;
  cell(row, 'stage', job.state === 'completed' ? ENDS[job.state] : `${ENDS[job.state]}${stage}`);
  cell(row, 'time', duration(job.times_ms.total / 1000));
  const name = part(row, 'job', 'td');
  setText(part(name, 'ended-id', 'bdi'), plain(job.job_id));
  const reason = part(row, 'reason', 'td');
  setText(part(reason, 'text', 'bdi'), job.error ? plain(job.error) : stagesOf(job));
}

function showHistory() {
  const history = state.history;
  if (!history) return;
  const kind = chosenKind();
  const fits = (job) => !kind || job.kind === kind;
  const failed = history.failed.filter(fits);
  $('no-failed').hidden = failed.length > 0;
  $('failed-list').closest('.scroll').hidden = failed.length === 0;
  keyed($('failed-list'), failed, 'tr', (job) => `${job.number}`, updateEnded);
  keyed($('recent-list'), history.recent.filter(fits), 'tr', (job) => `${job.number}`, updateEnded);
  setText($('history-note'), history.trouble ? `The history cannot be read: ${plain(history.trouble)}`
    : 'All of them: cuzkctl jobs. One with its stages: cuzkctl job ID.');
}

for (const radio of document.querySelectorAll('[name=kind]')) {
  radio.addEventListener('change', () => {
    if (state.status) showJobs(state.status);
    showHistory();
  });
}
