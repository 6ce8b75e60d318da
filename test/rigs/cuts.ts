/** What goes wrong between a machine and servers that it talks to: by nft in the machine's own network namespace. */
import type { PrivateHost } from './private-host.ts'

/**
 * `both`: nothing gets through, and nobody is told. `requests`, `replies`: one way only. `refused`: connections are reset.
 * A number from 1 to 99: so many percent of all packets are lost, each way.
 */
export type Cut = 'both' | 'requests' | 'replies' | 'refused' | number

const table = 'inet rig_cut'

/** Rules for what leaves to a port, and for what comes back from it. */
function rules(cut: Cut, port: number): readonly string[] {
  const requests = `add rule ${table} out tcp dport ${port}`
  const replies = `add rule ${table} in tcp sport ${port}`
  if (typeof cut === 'number')
    return [requests, replies].map(rule => `${rule} numgen random mod 100 < ${cut} drop`)
  switch (cut) {
    case 'both':
      return [`${requests} drop`, `${replies} drop`]
    case 'requests':
      return [`${requests} drop`]
    case 'replies':
      return [`${replies} drop`]
    case 'refused':
      return [`${requests} reject with tcp reset`]
  }
}

/** Puts a cut between the machine and every server on these ports, in place of an earlier one. */
export async function cutOff(host: PrivateHost, ports: readonly number[], cut: Cut): Promise<void> {
  const lines = [
    ...mended,
    `add table ${table}`,
    `add chain ${table} out { type filter hook output priority 0; }`,
    `add chain ${table} in { type filter hook input priority 0; }`,
    ...ports.flatMap(port => rules(cut, port)),
  ]
  await host.must('nft', ['-f', '-'], { input: `${lines.join('\n')}\n` })
}

/** One that is not there cannot be deleted. */
const mended = [`add table ${table}`, `delete table ${table}`]

/** Takes the cut away. */
export async function mend(host: PrivateHost): Promise<void> {
  await host.must('nft', ['-f', '-'], { input: `${mended.join('\n')}\n` })
}
