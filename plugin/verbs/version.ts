import { configVersion, decodeNetworkConfig } from '../../shared/cni/netconf.ts'
import { latestVersion, supportedVersions } from '../../shared/cni/versions.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { PluginEdges } from '../call.ts'
import { type Outcome, printable } from '../outcome.ts'

/** Callers may leave stdin open, closed or empty: nothing on it is needed. */
const stdinLimits = { timeoutMs: 150, maxBytes: 1024 * 1024 }

/** VERSION: no daemon. The specification wants the input's cniVersion back (cni-protocol D1, D2). */
export async function answerVersion(edges: PluginEdges): Promise<Outcome> {
  return { document: printable({ cniVersion: await inputVersion(edges), supportedVersions }) }
}

async function inputVersion(edges: PluginEdges): Promise<string> {
  try {
    const asked = configVersion(decodeNetworkConfig(await edges.readStdin(stdinLimits)))
    return asked === '' ? latestVersion : asked
  } catch (error) {
    if (error instanceof Problem) return latestVersion
    throw error
  }
}
