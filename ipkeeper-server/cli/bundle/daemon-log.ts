import { existsSync } from 'node:fs'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { findProgram } from '../../host/find-program.ts'
import { runProgram } from '../../host/run-program.ts'
import type { Terminal } from '../framework/terminal.ts'
import { missing } from './missing-part.ts'

/** How many of the last lines are taken. */
export const logLines = 2000

const byHand = 'journalctl -u ipkeeper'

/**
 * The last lines of the daemon's log. Throws where the journal of this system has none.
 *
 * @param systemd what is there where systemd runs
 */
export async function readDaemonLog(
  { place, env }: { readonly place: Place; readonly env: Terminal['env'] },
  limit: number,
  systemd = '/run/systemd/system',
): Promise<string> {
  if (place.startedAs) throw missing(`systemd does not run the daemon; ${remedyHere(byHand, place)}`)
  if (!existsSync(systemd))
    throw missing("systemd does not run here; the log is where the daemon's standard error goes")
  const path = findProgram('journalctl', env['PATH'])
  if (path === undefined) throw missing('there is no journalctl here')
  const end = await runProgram({
    path,
    args: ['-u', 'ipkeeper', '-n', String(logLines), '-o', 'short-iso', '--no-pager', '-q'],
    env: { LC_ALL: 'C' },
    timeoutMs: limit,
    ownGroup: true,
  })
  if (end.kind === 'late') throw missing(`${byHand} did not end within ${limit / 1000} s`)
  if (end.kind === 'not-started') throw missing(`${byHand}: ${end.error.message}`)
  const [complaint = ''] = end.stderr.trim().split('\n')
  if (end.exit !== 0)
    throw missing(`${byHand}: exit ${end.exit ?? String(end.signal)} ${complaint}`.trimEnd())
  if (end.stdout.trim() === '')
    throw missing(`the journal has no lines of ipkeeper${complaint === '' ? '' : `: ${complaint}`}`)
  return end.stdout
}
