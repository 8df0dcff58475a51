// A client that shares no code with the daemon. Commands, each printing one JSON object:
//   prove ADDRESS REQUEST_DIRECTORY OUT [JSON overrides of message fields]
//   call ADDRESS METHOD JSON          one call of cuzk.v1.ProvingEngine; @FILE instead of JSON
//   calls ADDRESS METHOD FILE         one after another, each element of the file's list; prints the list of answers
//   health ADDRESS SERVICE            Check, and the first answer of Watch
//   services ADDRESS                  what reflection lists
//   deadline ADDRESS REQUEST_DIRECTORY ID MILLISECONDS   Prove with a deadline
//   leave ADDRESS REQUEST_DIRECTORY ID                   Prove, and hang up when a line comes on stdin
//   flood ADDRESS METHOD COUNT JSON   so many calls, a few at once; prints how many ended with which code or status
//   many ADDRESS BYTES COUNT          so many PoRep submissions with so large a payload at once, each on its own connection
//   follow ADDRESS SERVICE            every answer of the health service's Watch, one a line, until the server ends it
// The environment names files for TLS: GRPCJS_TLS_CA, and for a client's own certificate GRPCJS_TLS_CERT, GRPCJS_TLS_KEY.
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
const pem = (name) => process.env[`GRPCJS_TLS_${name}`] ? fs.readFileSync(process.env[`GRPCJS_TLS_${name}`]) : null;
const credentials = pem('CA') ? grpc.credentials.createSsl(pem('CA'), pem('KEY'), pem('CERT'))
  : grpc.credentials.createInsecure();
const connect = (Client, address, options = {}) => new Client(address, credentials, { ...limits, ...options });
const engine = (address, options) => connect(load('proving.proto').cuzk.v1.ProvingEngine, address, options);
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

async function call(address, method, text) {
  const message = text.startsWith('@') ? fs.readFileSync(text.slice(1), 'utf8') : text;
  print(await unary(connect(load('proving.proto').cuzk.v1.ProvingEngine, address), method, JSON.parse(message)));
}

async function calls(address, method, name) {
  const client = engine(address);
  const answers = [];
  for (const message of JSON.parse(fs.readFileSync(name, 'utf8'))) answers.push(await unary(client, method, message));
  print(answers);
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

async function deadline(address, directory, id, milliseconds) {
  const message = { submit: { ...curioRequest(directory), request_id: id } };
  print(await new Promise((resolve) => engine(address).Prove(message, { deadline: Date.now() + Number(milliseconds) },
    (error, answer) => resolve(error ? { code: codeName(error.code), message: error.details } : answer.result))));
}

async function leave(address, directory, id) {
  const message = { submit: { ...curioRequest(directory), request_id: id } };
  print(await new Promise((resolve) => {
    const running = engine(address).Prove(message, (error) => resolve({ code: codeName(error ? error.code : 0) }));
    process.stdin.once('data', () => { running.cancel(); process.stdin.destroy(); });
  }));
}

const count = (seen, key) => { seen[key] = (seen[key] ?? 0) + 1; };

async function flood(address, method, total, message) {
  const client = engine(address);
  const seen = {};
  let left = Number(total);
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (left-- > 0) {
      const answer = await unary(client, method, JSON.parse(message));
      count(seen, answer.code ?? answer.result?.status ?? 'OK');
    }
  }));
  print(seen);
}

async function many(address, bytes, total) {
  const seen = {};
  const payload = Buffer.alloc(Number(bytes), 0x20);
  payload.write('{"SectorNum":1,"Phase1Out":"', 0);
  await Promise.all(Array.from({ length: Number(total) }, async (_, index) => {
    // A pool of its own is a connection of its own.
    const answer = await unary(engine(address, { 'grpc.use_local_subchannel_pool': 1 }), 'Prove',
      { submit: { request_id: `many-${index}`, proof_kind: 'POREP_SEAL_COMMIT', registered_proof: 5, miner_id: 1000,
        sector_number: 1, vanilla_proof: payload } });
    count(seen, answer.code ?? answer.result.status);
  }));
  print(seen);
}

async function follow(address, service) {
  const stream = connect(load('health.proto').grpc.health.v1.Health, address).Watch({ service });
  stream.on('data', (answer) => print({ status: answer.status }));
  await new Promise((resolve) => stream.on('error', resolve).on('end', resolve));
}

const [command, ...rest] = process.argv.slice(2);
await { prove, call, calls, health, services, deadline, leave, flood, many, follow }[command](...rest);
