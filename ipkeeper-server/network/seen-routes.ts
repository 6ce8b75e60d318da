import type { SeenRoute } from './plan/compare-wiring.ts'
import { showJson } from './ip-commands.ts'
import type { RunTool } from './run-tool.ts'

const mainTable = 254

/** The parts of `ip -N -json route` that are used. */
interface RouteJson {
  readonly dst?: string
  readonly gateway?: string
  readonly dev?: string
  /** A number; not there for the main one. */
  readonly table?: string
  readonly metric?: number
}

/** "10.22.0.50/32" of what ip shortens to "10.22.0.50"; "default" of either family in full. */
function wholeDestination(dst: string, ipv6: boolean): string {
  if (dst === 'default') return ipv6 ? '::/0' : '0.0.0.0/0'
  return dst.includes('/') ? dst : `${dst}/${ipv6 ? '128' : '32'}`
}

/** The routes that `ip route show ARGS` shows, of both families. `inside`: in that namespace instead of the host's. */
export async function seeRoutes(
  run: RunTool,
  args: readonly string[],
  inside?: number,
): Promise<readonly SeenRoute[]> {
  const families = await Promise.all(
    ['-4', '-6'].map(async family => {
      // With numbers: people name tables (/etc/iproute2/rt_tables).
      const words = ['-N', family, 'route', 'show', ...args]
      const routes = (await showJson(run, words, inside)) as readonly RouteJson[]
      return routes.map((route): SeenRoute => ({
        dst: wholeDestination(route.dst ?? '', family === '-6'),
        gw: route.gateway,
        dev: route.dev,
        table: Number(route.table ?? mainTable),
        priority: route.metric ?? 0,
      }))
    }),
  )
  return families.flat()
}
