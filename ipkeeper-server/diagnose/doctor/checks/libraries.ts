import { ok, warn, type Check } from '../check.ts'

/** What Node's executable asks for; package.json pins that Node. */
const leastGlibc = '2.28'

interface ProcessReport {
  readonly header: { readonly glibcVersionRuntime?: string }
  readonly sharedObjects: readonly string[]
}

export const librariesCheck: Check = {
  id: 'libraries',
  title: 'the host has the libraries of the executables',
  why: `Plugin and daemon need glibc ${leastGlibc} and libstdc++; on a host without them the plugin does not start.`,
  run: () => {
    const { header, sharedObjects } = process.report.getReport() as unknown as ProcessReport
    const glibc = header.glibcVersionRuntime
    const standard = sharedObjects.find(path => /\/libstdc\+\+\.so/.test(path))
    // This one runs, so it has what it needs; a static one needs nothing.
    const says = `glibc ${glibc ?? 'none'}, ${standard ?? 'no libstdc++'}`
    if (glibc !== undefined && glibc.localeCompare(leastGlibc, 'en', { numeric: true }) < 0)
      return warn(`${says}: older than ${leastGlibc}`, 'ldd', '--version')
    return ok(process.env['KUBERNETES_SERVICE_HOST'] === undefined ? says : `${says}, of this container`)
  },
}
