import type { HistoryArchive, HistoryPart, PartName } from '../../../ipkeeper-server/store/history-archive.ts'

/** Parts of histories in this process, which can be away. */
export class MemoryArchive implements HistoryArchive {
  readonly parts = new Map<string, HistoryPart>()
  puts = 0
  isAway = false

  static #key({ node, stretch, first }: PartName): string {
    return JSON.stringify([node, stretch, first])
  }

  #expectHere(): void {
    if (this.isAway) throw new Error('away')
  }

  put(part: HistoryPart): Promise<void> {
    this.#expectHere()
    this.puts++
    this.parts.set(MemoryArchive.#key(part), part)
    return Promise.resolve()
  }

  async *list(node?: string): AsyncGenerator<readonly HistoryPart[]> {
    this.#expectHere()
    for (const part of [...this.parts.values()])
      if (node === undefined || part.node === node) yield await Promise.resolve([part])
  }

  remove(name: PartName): Promise<void> {
    this.#expectHere()
    this.parts.delete(MemoryArchive.#key(name))
    return Promise.resolve()
  }

  removeBegunBefore(moment: number): Promise<number> {
    this.#expectHere()
    const old = [...this.parts.values()].filter(({ from }) => from < moment)
    for (const part of old) this.parts.delete(MemoryArchive.#key(part))
    return Promise.resolve(old.length)
  }
}
