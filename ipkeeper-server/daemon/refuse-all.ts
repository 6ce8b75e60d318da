import { toProblem, type Problem } from '../../shared/problem/problem.ts'
import { KeptSocket } from '../http/kept-socket.ts'
import { buildRefusingApp } from '../http/refusing-app.ts'
import type { Logger } from '../host/logger.ts'
import type { MetricRegistry } from '../metrics/metric-registry.ts'
import type { MetricsListener } from '../http/metrics-listener.ts'

export interface RefuseAllOptions {
  readonly socket: string
  readonly stateDir: string
  readonly remedy: (text: string) => string
  /** Why, as it is now. */
  readonly problem: () => Problem
  readonly registry: MetricRegistry
  readonly metricsListener: MetricsListener | undefined
  readonly logger: Logger
}

/** Answers for a daemon that has been refused its name; resolves to what ends that. */
export async function refuseAll({
  socket,
  stateDir,
  remedy,
  problem,
  registry,
  metricsListener,
  logger,
}: RefuseAllOptions): Promise<() => Promise<void>> {
  const tell = (error: unknown): void => {
    const { code, message, hint } = toProblem(error)
    logger.warn({ code, hint }, `no error can be sent to clients: ${message}`)
  }
  registry.set('ipkeeper_node_name_lost', [{ value: 1 }])
  metricsListener?.serve(() => registry.page(), tell)
  const app = buildRefusingApp({ stateDir, remedy, problem, metrics: () => registry.page(), logger })
  const listening = await KeptSocket.open({
    ...{ app, path: socket },
    onMade: () => undefined,
    onProblem: tell,
  })
  return async () => {
    await Promise.all([listening.close(), app.close()])
  }
}
