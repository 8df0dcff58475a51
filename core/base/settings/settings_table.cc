#include "core/base/settings/settings.h"

namespace cuzk {
namespace {

using enum SettingType;

constexpr SettingRow kRows[] = {
    {"listen", kText, "unix:/run/cuzkd/cuzkd.sock", "", "", "", false,
     "The addresses at which gRPC is served: unix:PATH or HOST:PORT, separated by commas."},
    {"listen_mode", kMode, "0660", "", "", "", false, "The permissions of each unix socket."},
    {"legacy_metrics", kBool, "false", "", "", "", false,
     "Also export cuzk_proofs_completed and cuzk_proofs_failed, the names without _total that the daemon shipped with "
     "Curio uses."},

    {"grpc.max_message", kSize, "512MiB", "", "", "", false,
     "The largest message that is accepted or sent. Curio sends up to 256 MiB.", "1B..2147483647B"},
    {"grpc.max_calls", kInteger, "256", "", "calls", "", false,
     "The number of calls that one connection may have open at once. A call that waits for a proof counts as open.",
     "1..2147483647"},
    {"grpc.threads", kInteger, "512", "", "threads", "", false,
     "The most threads that gRPC may use. A call that waits for a proof occupies one thread.", "8..2147483647"},
    {"grpc.ingress_memory", kSize, "auto", "auto", "", "", false,
     "The memory for messages that are being received. It is taken from memory.budget. auto: a quarter of "
     "memory.budget, but at most 4GiB."},
    {"grpc.allow_plaintext", kBool, "false", "", "", "", false,
     "Allow unencrypted gRPC on an address that other machines can reach."},
    {"grpc.reflection", kBool, "true", "", "", "", false,
     "Serve gRPC reflection, from which tools such as grpcurl learn the interface."},
    {"grpc.keepalive", kDuration, "60s", "", "", "", false,
     "The daemon pings a client after its connection has been silent for this long.", "1s..480h"},
    {"grpc.keepalive_timeout", kDuration, "20s", "", "", "", false,
     "A connection is closed if the client does not answer a ping within this time. A call is ended if its client has "
     "not read its response for this long.",
     "1s..480h"},
    {"grpc.least_ping_interval", kDuration, "10s", "", "", "", false,
     "The minimum interval between a client's keepalive pings, with or without an open call. Clients that ping more "
     "often are disconnected.",
     "1s..480h"},

    {"tls.certificate", kText, "", "", "", "", true,
     "The server's certificate chain as a PEM file, the server's own certificate first. If it is set, every HOST:PORT "
     "of listen uses TLS; unix sockets never do. SIGHUP reads the files again, but turning TLS on or off needs a "
     "restart."},
    {"tls.key", kText, "", "", "", "", true,
     "The private key of that certificate as a PEM file without a pass phrase. The file must belong to the daemon's "
     "user and be closed to all others, or belong to root and be readable by the daemon's group."},
    {"tls.client_ca", kText, "", "", "", "", true,
     "The certificate authorities of clients as a PEM file. If it is set, clients must present a certificate that one "
     "of them signed. If it is empty, clients need no certificate. Turning this on or off needs a restart."},

    {"http.listen", kText, "127.0.0.1:9821", "", "", "", false,
     "The address at which /metrics, /healthz, /readyz, /status and the live page are served over plain HTTP. If it is "
     "empty, HTTP is off."},
    {"http.allow_remote", kBool, "false", "", "", "", false,
     "Allow http.listen to be an address that other machines can reach. HTTP is not encrypted and asks for no "
     "password: any machine that reaches the address can read the pages."},

    {"params.directory", kText, "/var/tmp/filecoin-proof-parameters", "", "", "FIL_PROOFS_PARAMETER_CACHE", false,
     "The directory of the parameter files (.params) and verifying keys (.vk)."},
    {"params.allow_development", kBool, "false", "", "", "", false,
     "Accept parameters that were made by `cuzkctl params make`. The maker of such parameters can forge proofs that "
     "this daemon accepts."},
    {"params.verify", kText, "once", "once|always", "", "", false,
     "When the daemon computes the digest of a parameter file. once: at the first load, and again only if the device, "
     "inode, size or times of the file have changed. always: at every load."},
    {"params.preload", kList, "", "", "", "", false,
     "The circuits whose parameters are loaded at start, such as porep-32g."},
    {"params.evict_idle", kDuration, "0s", "", "", "", true,
     "Unload parameters that no job has used for this long, except those of params.preload. 0s: unload them only when "
     "their memory is needed."},
    {"params.ready_before_preload", kBool, "false", "", "", "", false,
     "Accept jobs while params.preload is being loaded. If false, the daemon answers that it is starting until loading "
     "has finished."},

    {"devices.use", kText, "auto", "auto|gpu|cpu", "", "BELLMAN_NO_GPU", false,
     "The devices that prove. auto: the GPUs, or the CPU if the PCI bus shows no NVIDIA card. gpu: the GPUs alone. "
     "cpu: "
     "the CPU alone."},
    {"devices.wait", kDuration, "2m", "", "", "", false,
     "The time that the daemon waits at its start for a card that the machine has but that cannot be used yet, because "
     "drivers and fabric managers may become ready late during boot. After this time the daemon exits with code 69."},
    {"devices.cards", kList, "", "", "", "", false,
     "The GPUs that prove, by number or by UUID as `nvidia-smi -L` shows them. If it is empty, all GPUs prove."},
    {"devices.kinds", kList, "", "", "", "", false,
     "The kinds that a GPU proves, as CARD=KIND+KIND, such as 0=window+winning. CARD is the number or the UUID of the "
     "GPU. GPUs that are not named prove every kind."},
    {"devices.memory", kSize, "auto", "auto", "", "", false,
     "The memory that the daemon may use on each GPU, for GPUs that also do other work. auto: all memory that is "
     "free."},
    {"devices.quarantine", kBool, "true", "", "", "", false,
     "Take a GPU out of service if two of its proofs were wrong, if it returns errors, if it makes no progress while "
     "others do, or if it has an error (Xid) that needs a reset. `cuzkctl device enable` brings it back. The last GPU "
     "that works always stays in service."},
    {"devices.quarantine_errors", kInteger, "5", "", "errors", "", false,
     "The number of errors in a row after which devices.quarantine takes a GPU out of service.", "1..1000"},
    {"devices.quarantine_stall", kDuration, "5m", "", "", "", false,
     "The time after which devices.quarantine takes a GPU out of service because it has work but makes no progress, "
     "while another GPU does.",
     "1s..24h"},
    {"devices.workers", kInteger, "2", "", "workers per device", "", false,
     "The number of workers for each device. While one worker computes, another copies the next partition. On a GPU "
     "whose "
     "memory cannot hold the parameters, this many partitions share each pass over them; 8 is a better value there.",
     "1..8"},

    {"synthesis.threads", kInteger, "0", "", "threads", "", false,
     "The number of threads that read requests, write witnesses and, if the CPU proves, compute proofs. 0: one for "
     "each core.",
     "0..4096"},
    {"synthesis.partitions", kInteger, "2", "", "partitions", "", false,
     "The number of partitions whose witnesses are written at the same time.", "1..256"},

    {"memory.budget", kSize, "auto", "auto", "", "", false,
     "The memory that requests, witnesses, buffers and parameters may use together. auto: the memory of the machine, "
     "or the limit of the control group if that is smaller, less a reserve."},
    {"memory.requests", kSize, "auto", "auto", "", "", false,
     "The part of memory.budget that requests may use, both as received and as parsed. Further requests are refused. "
     "One request is always admitted, and WinningPoSt requests may exceed the limit by an eighth or by 64MiB, "
     "whichever is more. auto: a quarter of memory.budget."},

    {"jobs.queue", kInteger, "1024", "", "jobs", "", true,
     "The largest number of unfinished jobs. Further requests are refused, except up to 16 WinningPoSt requests.",
     "1..1000000"},
    {"jobs.results", kInteger, "4096", "", "jobs", "", true,
     "The largest number of ended jobs whose results are kept. Beyond it, results that were fetched are dropped first, "
     "then failures, then proofs that were not fetched; within each group, the oldest first.",
     "1..1000000"},
    {"jobs.result_age", kDuration, "24h", "", "", "", true, "The time for which a result is kept."},
    {"jobs.history", kDuration, "720h", "", "", "", true,
     "The time for which jobs that ended are listed by cuzkctl jobs and on the live page, without their proofs. The "
     "history is kept in jobs.state_directory; if that is empty, the last 1000 jobs are kept in memory. 0s: no "
     "history.",
     "0s..87600h"},
    {"jobs.history_max", kInteger, "100000", "", "jobs", "", true,
     "The largest number of jobs in the history. Beyond it, the oldest jobs are dropped. 100000 jobs take about 30 MB "
     "of disk.",
     "0..10000000"},
    {"jobs.drain", kDuration, "30m", "", "", "", true,
     "The time that accepted jobs have to end after SIGTERM. Jobs that have not ended by then continue at the next "
     "start, or fail if jobs.state_directory is empty."},
    {"jobs.max_time", kDuration, "0s", "", "", "", true,
     "The time that a job may take, counted from its submission. 0s: no limit. A change applies to jobs that are "
     "submitted after it."},
    {"jobs.cancel_abandoned", kBool, "false", "", "", "", false,
     "Cancel a job when every caller that waits for it in Prove has disconnected. Curio calls Prove again to get the "
     "result of such a job."},
    {"jobs.state_directory", kText, "/var/lib/cuzkd", "", "", "", false,
     "The directory that keeps accepted jobs, and results that were not fetched, across restarts. If it is empty, a "
     "restart loses them."},
    {"jobs.stored", kSize, "8GiB", "", "", "", false,
     "The space that unfinished requests may use in jobs.state_directory. WinningPoSt requests may exceed it by an "
     "eighth or by 64MiB, whichever is more."},
    {"jobs.losses", kInteger, "3", "", "times", "", false,
     "The number of interruptions after which a job fails. A job is interrupted if its device is lost or the daemon "
     "crashes while the job is in progress; until it fails, it is tried again. 0: such a job is always tried again.",
     "0..1000"},

    {"log.level", kText, "info", "debug|info|warning|error", "", "RUST_LOG", true,
     "The least severe messages that are logged."},
    {"log.format", kText, "text", "text|json", "", "", false,
     "The format of the log on stderr: text for people, or json with one object a line."},
};

}  // namespace

std::span<const SettingRow> SettingTable() { return kRows; }

}  // namespace cuzk
