// ---- Devices.

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
    const share = device.busy_share;
    const title = part(node, 'title', 'h3');
    setText(part(title, 'name', 'span'), device.gpu_ordinal === null ? device.name : `${device.gpu_ordinal}: ${device.name}`);
    const works = device.service === 'works';
    setText(part(title, 'tag', 'span', ''), works ? '' : `${device.service}: ${plain(device.service_reason)}`);
    setClass(title.parts.tag, works ? '' : 'tag');
    drawSeries(part(node, 'spark', 'canvas', 'spark'), { label: `Device ${index} busy, 24 hours`, most: 1,
      series: [{ values: state.history?.day.busy[index] ?? [], colour: '--accent' }], text: (v) => percent(v, 1) });
    fillBar(part(node, 'bar', 'div'), [{ name: 'fill', share }]);
    const mine = status.gpu_workers.filter((w) => w.track.startsWith(`device ${index} worker `));
    const used = device.memory_total_bytes - device.memory_free_bytes;
    showFacts(part(node, 'facts', 'dl'), [
      ['Busy', `kernels ran ${percent(share, 1)} of the last minute`],
      ['Partitions', `${device.partitions_total} computed, ${device.queued} queued`],
      ['Memory', `${bytes(used)} of ${bytes(device.memory_total_bytes)}`
        + (device.memory_seen_secs_ago > 60 ? `, seen ${duration(device.memory_seen_secs_ago)} ago` : '')],
      ...(device.card ? [['Card', sensorsOf(device.card)], ['PCIe', busOf(device.card)]] : []),
      ...mine.map((w) => [`Worker ${w.track.split(' ').pop()}`, workerLine(w)]),
    ]);
  });
}
