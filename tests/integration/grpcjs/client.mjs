// A client that shares no code with the daemon. Commands, each printing one JSON object:
//   prove ADDRESS REQUEST_DIRECTORY OUT [JSON overrides of message fields]
//   call ADDRESS METHOD JSON          one call of cuzk.v1.ProvingEngine
//   health ADDRESS SERVICE            Check, and the first answer of Watch
//   services ADDRESS                  what reflection lists
// A call that fails prints {"code": NAME, "message": TEXT}.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

// The packages are installed into the build folder, which the environment names.
const require = createRequire(path.join(process.env.GRPCJS_MODULES, 'index.js'));
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const here = path.dirname(fileURLToPath(import.meta.url));
const load = (file) => grpc.loadPackageDefinition(loader.loadSync(path.join(here, file),
  { keepCase: true, longs: String, enums: String, bytes: Buffer, defaults: true }));
const limits = { 'grpc.max_receive_message_length': 256 << 20, 'grpc.max_send_message_length': 256 << 20 };
const connect = (Client, address) => new Client(address, grpc.credentials.createInsecure(), limits);
const codeName = (code) => Object.keys(grpc.status).find((name) => grpc.status[name] === code);
const print = (value) => console.log(JSON.stringify(value, (key, v) =>
  v && v.type === 'Buffer' ? Buffer.from(v.data).toString('hex') : v));

const unary = (client, method, message) => new Promise((resolve) => client[method](message, (error, answer) =>
  resolve(error ? { code: codeName(error.code), message: error.details } : answer)));

const file = (directory, name) => {
  const whole = path.join(directory, name);
  return fs.existsSync(whole) ? fs.readFileSync(whole) : unxz(`${whole}.xz`);
};

function unxz(name) {
  // Node has no xz: the system's tool unpacks what the repository keeps compressed.
  const { execFileSync } = require('node:child_process');
  return execFileSync('xz', ['-dc', name], { maxBuffer: 1 << 30 });
}

const hex = (text) => Buffer.from(text, 'hex');

// The request as Curio's client forms it.
function curioRequest(directory) {
  const request = JSON.parse(file(directory, 'request.json'));
  const message = { sector_size: request.sector_size, registered_proof: request.registered_proof,
    miner_id: request.miner_id };
  switch (request.kind) {
    case 'porep':
      return { ...message, request_id: `porep-${request.miner_id}-${request.sector_number}`,
        proof_kind: 'POREP_SEAL_COMMIT', priority: 'NORMAL', sector_number: request.sector_number,
        vanilla_proof: file(directory, 'c1.json') };
    case 'snap':
      return { ...message, request_id: `snap-${request.miner_id}-${request.sector_number}`,
        proof_kind: 'SNAP_DEALS_UPDATE', priority: 'NORMAL', sector_number: request.sector_number,
        vanilla_proofs: request.partitions.map((name) => file(directory, name)),
        comm_r_old: hex(request.comm_r_old), comm_r_new: hex(request.comm_r_new),
        comm_d_new: hex(request.comm_d_new) };
    case 'window':
    case 'winning': {
      const randomness = hex(request.randomness);
      const window = request.kind === 'window';
      const id = window ? `wdpost-${request.miner_id}-${request.partition_index}-[${[...randomness.subarray(0, 8)].join(' ')}]`
        : `winpost-${request.miner_id}-${randomness.subarray(0, 8).toString('hex')}`;
      return { ...message, request_id: id, proof_kind: window ? 'WINDOW_POST_PARTITION' : 'WINNING_POST',
        priority: window ? 'HIGH' : 'CRITICAL', randomness, partition_index: request.partition_index ?? 0,
        vanilla_proofs: request.sectors.map((sector) => file(directory, sector.file)) };
    }
    default:
      throw new Error(`unknown kind ${request.kind}`);
  }
}

async function prove(address, directory, out, overrides = '{}') {
  const client = connect(load('proving.proto').cuzk.v1.ProvingEngine, address);
  const answer = await unary(client, 'Prove', { submit: { ...curioRequest(directory), ...JSON.parse(overrides) } });
  if (answer.result) {
    fs.writeFileSync(out, answer.result.proof);
    delete answer.result.proof;
  }
  print(answer.result ?? answer);
}

async function call(address, method, message) {
  print(await unary(connect(load('proving.proto').cuzk.v1.ProvingEngine, address), method, JSON.parse(message)));
}

async function health(address, service) {
  const client = connect(load('health.proto').grpc.health.v1.Health, address);
  const check = await unary(client, 'Check', { service });
  const watch = await new Promise((resolve) => {
    const stream = client.Watch({ service });
    stream.on('data', (answer) => { stream.cancel(); resolve(answer.status); });
    stream.on('error', () => {});
  });
  print({ check: check.status ?? check.code, watch });
}

async function services(address) {
  const client = connect(load('reflection.proto').grpc.reflection.v1alpha.ServerReflection, address);
  const stream = client.ServerReflectionInfo();
  stream.on('data', (answer) => {
    print(answer.list_services_response.service.map((service) => service.name));
    stream.end();
  });
  stream.write({ list_services: '*' });
}

const [command, ...rest] = process.argv.slice(2);
await { prove, call, health, services }[command](...rest);
