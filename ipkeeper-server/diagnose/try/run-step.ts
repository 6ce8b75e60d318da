import { writeResult } from './plugin-result.ts'
import { judgeRun, type Verdict } from './judge-run.ts'
import { pluginEnvironment } from './plugin-call.ts'
import { warning, type Finding, type Step } from './report.ts'
import { runCniPlugin, type PluginStart } from './run-cni-plugin.ts'
import { toProblem } from '../../../shared/problem/problem.ts'

export interface StepStart extends PluginStart {
  readonly cniVersion: string
  /** What else is to be said of it. */
  readonly judge: (verdict: Verdict) => Promise<readonly Finding[]>
}

/** Runs a plugin and judges what it did. Never rejects. */
export async function runStep(start: StepStart): Promise<{ readonly step: Step; readonly verdict: Verdict }> {
  const { verb, plugin, attachment, stdin, cniVersion, judge } = start
  const { path, run } = await runCniPlugin(start)
  const verdict = judgeRun(run, cniVersion)
  const more = await judge(verdict).catch((error: unknown) => [warning(toProblem(error).message)])
  const { result, runtimeSays } = verdict
  const step: Step = {
    ...{ verb, plugin, path, env: pluginEnvironment(verb, attachment), stdin },
    ...{ stdout: run.stdout, stderr: run.stderr, milliseconds: Math.round(run.milliseconds) },
    exit: run.end.kind === 'exit' ? run.end.exit : null,
    result: result === null ? null : writeResult(result, result.version),
    runtimeSays,
    findings: [...verdict.findings, ...more],
  }
  return { step, verdict }
}
