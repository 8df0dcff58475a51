// ---- Devices.

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
  const busy = covered(spans, from);
  return now > from ? Math.min(1, busy / (now - from)) : 0;
}


// The share of the time since `from` in which kernels ran, of partitions that have ended.
function kernelShare(index, from) {
  const spans = [];
  for (const track of state.tracks) {
    if (!track.name.startsWith(`device ${index} worker `)) continue;
    for (const block of track.blocks) {
      for (const bar of block.bars) {
        if (bar.end > from && !['copy', 'wait'].includes(classOf(bar.name))) spans.push([Math.max(bar.begin, from), bar.end]);
      }
    }
  }
  return covered(spans, from) / Math.max(serverNow() - from, 1);
}

// How long at least one of the spans holds.
function covered(spans, from) {
  let sum = 0, end = from;
  for (const [a, b] of spans.sort((x, y) => x[0] - y[0])) {
    sum += Math.max(0, b - Math.max(a, end));
    end = Math.max(end, b);
  }
  return sum;
}

// What the driver says of the card; absent values are left out.
function sensorsOf(card) {
  const parts = [];
  if (card.temperature_celsius !== null) parts.push(`${card.temperature_celsius} °C`);
  if (card.power_watts !== null) {
    const limit = card.power_limit_watts === null ? '' : ` of ${Math.round(card.power_limit_watts)}`;
    parts.push(`${Math.round(card.power_watts)}${limit} W`);
  }
  if (card.sm_clock_mhz !== null) parts.push(`${card.sm_clock_mhz} MHz`);
  if (card.memory_clock_mhz !== null) parts.push(`memory ${card.memory_clock_mhz} MHz`);
  return parts.join(', ');
}

function busOf(card) {
  const parts = [];
  if (card.pcie_generation !== null && card.pcie_width !== null) parts.push(`gen ${card.pcie_generation} ×${card.pcie_width}`);
  if (card.pcie_received_bytes_per_sec !== null) parts.push(`${bytes(card.pcie_received_bytes_per_sec)}/s in`);
  if (card.pcie_sent_bytes_per_sec !== null) parts.push(`${bytes(card.pcie_sent_bytes_per_sec)}/s out`);
  return parts.join(', ');
}

function workerLine(worker) {
  if (worker.busy_secs === null) return worker.critical_only ? 'idle, kept for critical jobs' : 'idle';
  return `partition ${worker.current_partition} of ${plain(worker.current_job)}, for ${duration(worker.busy_secs)}`;
}

function showDevices(status) {
  const devices = status.devices.map((device, index) => ({ device, index }));
  keyed($('device-list'), devices, 'li', ({ index }) => `${index}`, (node, { device, index }) => {
    const share = busyShare(status, index);
    const title = part(node, 'title', 'h3');
    setText(part(title, 'name', 'span'), device.gpu_ordinal === null ? device.name : `${device.gpu_ordinal}: ${device.name}`);
    setText(part(title, 'tag', 'span', ''), device.healthy ? '' : `lost: ${plain(device.lost_reason)}`);
    setClass(title.parts.tag, device.healthy ? '' : 'tag');
    drawSeries(part(node, 'spark', 'canvas', 'spark'), { label: `Device ${index} busy, 24 hours`, most: 1,
      series: [{ values: state.history?.day.busy[index] ?? [], colour: '--accent' }], text: (v) => percent(v, 1) });
    fillBar(part(node, 'bar', 'div'), [{ name: 'fill', share }]);
    const mine = status.gpu_workers.filter((w) => w.track.startsWith(`device ${index} worker `));
    const used = device.memory_total_bytes - device.memory_free_bytes;
    const window = Math.min(300, Math.max(status.uptime_secs, 1));
    const kernels = percent(kernelShare(index, serverNow() - window), 1);
    showFacts(part(node, 'facts', 'dl'), [
      ['Busy', `${percent(share, 1)} of the last minute, kernels ${kernels} of ${duration(window)}`],
      ['Partitions', `${device.partitions_total} computed, ${device.queued} queued`],
      ['Memory', `${bytes(used)} of ${bytes(device.memory_total_bytes)}`
        + (device.memory_seen_secs_ago > 60 ? `, seen ${duration(device.memory_seen_secs_ago)} ago` : '')],
      ...(device.card ? [['Card', sensorsOf(device.card)], ['PCIe', busOf(device.card)]] : []),
      ...mine.map((w) => [`Worker ${w.track.split(' ').pop()}`, workerLine(w)]),
    ]);
  });
}
