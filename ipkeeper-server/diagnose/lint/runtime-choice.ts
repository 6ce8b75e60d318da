import type { LintFile } from '../../../shared/api/lint.schema.ts'
import type { LintedFile, Site } from './site.ts'
import { usesIpkeeper } from './uses-ipkeeper.ts'

/** What a runtime makes of the files of its folder. */
export interface RuntimeChoice {
  /** Files that it would read, in its order. */
  readonly candidates: readonly LintedFile[]
  /** Those of them that containerd takes: the first so many. */
  readonly taken: readonly LintedFile[]
  /** The first of these that libcni refuses; containerd then has no network at all. */
  readonly breaking: LintedFile | undefined
}

/**
 * After go-cni's loadFromConfDir: the files of all three endings, sorted, the first max_conf_num of them; one that cannot
 * be loaded fails all (cni-protocol J2). 0 means all files. undefined where there is no folder of a runtime.
 */
export function runtimeChoice({ input, files }: Site): RuntimeChoice | undefined {
  const { directory } = input
  if (!directory) return undefined
  const candidates = files.filter(({ isRuntimeFile }) => isRuntimeFile)
  const { maxConfNum } = directory
  const taken = maxConfNum === 0 ? candidates : candidates.slice(0, maxConfNum)
  return { candidates, taken, breaking: taken.find(({ refusal }) => refusal !== undefined) }
}

/** Whether any plugin of a file takes its addresses from ipkeeper. */
export function isOfOurs({ documents }: LintedFile): boolean {
  return documents.some(({ network }) => network?.plugins.some(({ config }) => usesIpkeeper(config)))
}

/** What becomes of each file, in the order of the runtime. */
export function reportFiles(site: Site): LintFile[] {
  const choice = runtimeChoice(site)
  return site.files.map(file => {
    const network = file.documents[0]?.network?.name ?? null
    const report = (chosen: boolean | null, why: string): LintFile => ({
      file: file.path,
      network,
      chosen,
      why,
    })
    if (file.yaml && !file.isRuntimeFile)
      return report(choice ? false : null, 'YAML: no runtime reads it as it is')
    if (!choice)
      return report(
        null,
        file.refusal === undefined ? 'checked by itself' : `no runtime loads it: ${file.refusal}`,
      )
    if (!file.isRuntimeFile) return report(false, 'no runtime reads a file of this name')
    const { taken, breaking } = choice
    if (!taken.includes(file)) {
      if (breaking)
        return report(
          false,
          `comes after ${breaking.name}, which containerd cannot load; CRI-O skips that one`,
        )
      return report(false, `comes after ${taken.map(({ name }) => name).join(', ')}`)
    }
    if (file.refusal !== undefined)
      return report(false, `containerd fails at it, CRI-O skips it: ${file.refusal}`)
    if (breaking) return report(false, `containerd fails at ${breaking.name}; CRI-O takes this one`)
    return report(
      true,
      file === taken[0] ? 'the runtime takes it: the first by name' : 'the runtime takes it as well',
    )
  })
}
