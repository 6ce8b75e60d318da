import type { Test } from 'tap'
import { missing, type Requirement } from '../requirements.ts'
import { startInstalledCluster } from './installed-cluster.ts'
import { missingForKubelets, type KubeletCluster } from './kubelet-cluster.ts'
import { isSound } from './soundness.ts'

export type Story = readonly [
  name: string,
  play: (t: Test, cluster: KubeletCluster) => Promise<void>,
  ...needs: Requirement[],
]

/**
 * Plays stories one after the other on a cluster of two nodes, both lines of containerd among them. Each ends with the same look at
 * all of it. STORY in the environment is a pattern for the names of those that are played; all unless set.
 */
export async function playStories(t: Test, name: string, stories: readonly Story[]): Promise<void> {
  const pattern = new RegExp(process.env['STORY'] ?? '')
  const wanted = stories.filter(([story]) => pattern.test(story))
  if (wanted.length === 0) return
  // On a machine with much else to do six stories have taken a quarter of an hour.
  t.setTimeout(1_800_000)
  await t.test(name, { skip: missingForKubelets() }, async t => {
    const cluster = await startInstalledCluster(t, { nodes: 2 })
    for (const [story, play, ...needs] of wanted)
      await t.test(story, { skip: missing(...needs) }, async t => {
        await play(t, cluster)
        await isSound(t, cluster)
      })
  })
}
