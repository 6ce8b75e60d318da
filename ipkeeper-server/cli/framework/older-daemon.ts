import { Problem } from '../../../shared/problem/problem.ts'
import { compareVersions } from '../../../shared/text/compare-versions.ts'

/** As package.json has it; another one is not compared. */
const comparable = /^\d+\.\d+\.\d+(?:[-+].*)?$/

export const isOlder = (version: string, than: string): boolean =>
  comparable.test(version) && comparable.test(than) && compareVersions(version, than) < 0

/** Whether a daemon has not understood what it was asked: a path, or a key or value of the query or body. */
const notUnderstood = ({ code, message }: Problem): boolean =>
  code === 'IPK_ROUTE_UNKNOWN' || (code === 'IPK_REQUEST_INVALID' && message.startsWith('request refused: '))

/**
 * What a refusal means: of a daemon that is older than this program, that it is.
 *
 * @param versionOfDaemon rejects, or resolves to undefined, where it does not say
 */
export async function refusalOf(
  problem: Problem,
  own: string,
  versionOfDaemon: () => Promise<string | undefined>,
): Promise<Problem> {
  if (!notUnderstood(problem)) return problem
  const version = await versionOfDaemon().catch(() => undefined)
  if (version === undefined || !isOlder(version, own)) return problem
  return new Problem(
    problem.code,
    `the daemon (${version}) is older than this ipkeeperctl (${own}), and does not know what it was asked`,
    { hint: 'systemctl restart ipkeeper', details: problem.message, cause: problem },
  )
}
