import type { SeenRoute } from './plan/compare-wiring.ts'
import { showJson } from './ip-commands.ts'
import type { RunTool } from './run-tool.ts'

const tableNumbers: Readonly<Record<string, number>> = { default: 253, main: 254, local: 255 }

/** The parts of `ip -json route` that are used. */
interface RouteJson {
  readonly dst?: string
  readonly gateway?: string
  readonly dev?: string
  readonly table?: string | number
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
      const routes = (await showJson(run, [family, 'route', 'show', ...args], inside)) as readonly RouteJson[]
      return routes.map((route): SeenRoute => ({
        dst: wholeDestination(route.dst ?? '', family === '-6'),
        gw: route.gateway,
        dev: route.dev,
        table: tableNumbers[String(route.table ?? 'main')] ?? Number(route.table),
        priority: route.metric ?? 0,
      }))
    }),
  )
  return families.flat()
}
