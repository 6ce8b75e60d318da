import { ok, warn, type Check } from '../check.ts'

const recent = 60 * 60 * 1000
const shown = 10

export const flightRecordCheck: Check = {
  id: 'flight-record',
  title: 'runs of the plugin succeed',
  why: 'What failed lately on this node fails again as a rule, and the record has what the runtime threw away.',
  run: node => {
    const all = node.flights()
    const failed = all
      .filter(({ exit, at }) => exit !== 0 && Math.abs(node.now() - Date.parse(at)) < recent)
      .slice(-shown)
    if (failed.length === 0) return ok(`${all.length} recorded, none failed within the hour`)
    const counts = new Map<string, number>()
    for (const { verb, code, cniCode } of failed) {
      const what = `${verb} ${code ?? `code ${cniCode ?? '-'}`}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    const summary = [...counts].map(([what, count]) => `${count} x ${what}`).join(', ')
    return warn(`failed within the hour: ${summary}`, 'ipkeeperctl', 'flights', '--failed')
  },
}
