// Runs an image's root as a container without a container engine: a process in new mount, process, IPC
// and host name spaces, in a root that is mounted read-only, as the image's user, without
// capabilities, with the image's own entry, folder and variables. The network is the machine's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export const HOW =
  '`unshare` (mount, pid, ipc, uts), read-only bind mount, `pivot_root`, `setpriv --no-new-privs --bounding-set=-all`';

// Runs as root in the new namespaces; $1 is the root, $2 uid:gid, then "from:to" mounts up to "--".
const ENTER = `
set -eu
root=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
for device in null zero random urandom; do
  [ -e "$root/dev/$device" ] || touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$1" != -- ]; do
  mount --bind "\${1%%:*}" "$root\${1#*:}"
  shift
done
shift
mount -o remount,bind,ro "$root"
cd "$root"
pivot_root . mnt
umount -l /mnt
exec /usr/bin/setpriv --reuid="\${user%%:*}" --regid="\${user##*:}" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all /usr/bin/env -i "$@"
`;

/** Starts it. `args` stand for the image's CMD, `entry` for its ENTRYPOINT; `mounts` are "from:to". */
export function start({ root, config, args, entry, variables = {}, mounts = [] }) {
  const environment = [...config.Env, ...Object.entries(variables).map(([k, v]) => `${k}=${v}`)];
  const command = [...(entry ?? config.Entrypoint), ...(args ?? config.Cmd)];
  const user = /^\d+:\d+$/.test(config.User) ? config.User : `${config.User}:${config.User}`;
  const list = ['--mount', '--pid', '--ipc', '--uts', '--fork', 'sh', '-c', ENTER];
  const child = spawn(
    'unshare',
    [...list, 'enter', root, user, ...mounts, '--', `--chdir=${config.WorkingDir}`]
      .concat(environment)
      .concat(command),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].on('data', (data) => {
      output[name] += data;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code, ...output }));

  /** The process that is number 1 in there, as this machine numbers it. */
  const pid = () => {
    const file = `/proc/${child.pid}/task/${child.pid}/children`;
    return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(' ')[0]) : 0;
  };
  // Its parent's end would not be its own: it has changed its user.
  const kill = () => {
    if (pid() > 0) process.kill(pid(), 'SIGKILL');
  };
  process.once('exit', kill);
  ended.finally(() => process.off('exit', kill));
  return {
    ended,
    pid,
    /** Waits until it has said something on standard output. */
    async says(text) {
      for (let tries = 0; tries < 400 && child.exitCode === null; tries++) {
        if (output.stdout.includes(text)) return;
        await pause(25);
      }
      throw new Error(`did not say ${text}: ${output.stdout}${output.stderr}`);
    },
    /** Sends a signal to number 1; resolves to how it ended and after how many milliseconds. */
    async end(signal = 'SIGTERM') {
      const begin = performance.now();
      const number = pid();
      if (number > 0) process.kill(number, signal);
      const patience = setTimeout(kill, 20_000);
      const how = await ended;
      clearTimeout(patience);
      return { ...how, ms: Math.round(performance.now() - begin) };
    },
  };
}
