import { chmodSync, writeFileSync } from 'node:fs'
import { findProgram } from './find-program.ts'
import type { TempFolder } from './temp-folder.ts'

/**
 * A stand-in for `ip` that carries out so many commands of batches, and then kills who called it, as SIGKILL does, or says
 * that the kernel refuses the next one.
 */
export interface DeadlyIp {
  /** Environment of the daemon that is to find it. */
  readonly env: Readonly<Record<string, string>>
  /** From now on, after this many commands of the host's batches; undefined: never. */
  killAfter(commands: number | undefined): void
  /** The same, but the command after these is refused, once. */
  refuseAfter(commands: number): void
}

/** @param folder where it lives: one that every host of the test sees */
export function makeDeadlyIp(folder: TempFolder): DeadlyIp {
  const [left, refusing, program] = [folder.file('commands-left'), folder.file('refusing'), folder.file('ip')]
  const real = findProgram('ip') ?? 'ip'
  writeFileSync(
    program,
    `#!/bin/sh
[ "$1" = -batch ] && [ -s ${left} ] || exec ${real} "$@"
batch=$(cat)
left=$(cat ${left})
if [ "$(printf '%s\\n' "$batch" | wc -l)" -gt "$left" ]; then
  printf '%s\\n' "$batch" | head -n "$left" | ${real} -batch - 2>/dev/null
  : >${left}
  if [ -s ${refusing} ]; then
    : >${refusing}
    printf 'RTNETLINK answers: Device or resource busy\\nCommand failed -:%d\\n' $((left + 1)) >&2
    exit 2
  fi
  kill -9 $PPID
  exit 1
fi
complaint=$(printf '%s\\n' "$batch" | ${real} "$@" 2>&1) && exit=0 || exit=$?
done=$(printf '%s\\n' "$complaint" | sed -n 's/^Command failed -:\\([0-9]*\\)$/\\1/p')
echo $((left - \${done:-$(printf '%s\\n' "$batch" | wc -l)})) >${left}
printf '%s\\n' "$complaint" >&2
exit $exit
`,
  )
  chmodSync(program, 0o755)
  return {
    env: { PATH: `${folder.path}:/usr/sbin:/usr/bin:/sbin:/bin`, IPK_NETLINK: 'off' },
    killAfter: commands => {
      writeFileSync(refusing, '')
      writeFileSync(left, commands === undefined ? '' : String(commands))
    },
    refuseAfter: commands => {
      writeFileSync(refusing, 'yes')
      writeFileSync(left, String(commands))
    },
  }
}
