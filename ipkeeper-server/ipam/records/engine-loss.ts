import type { NodeRecord } from './records.ts'

/**
 * An engine that nodes share may lose records: it is made anew, or goes back to a snapshot. What it has then is no proof that
 * an address is free. Each such loss begins a new epoch, which nodes count in their records: one that has told the engine
 * again what it holds, by its journal, is in the new epoch. Nothing new is given while a node is in an earlier one, but for
 * nodes that an operator has declared gone.
 */
export const firstEpoch = 1

export const epochOf = ({ epoch = firstEpoch }: Pick<NodeRecord, 'epoch'>): number => epoch

/** Names of the nodes that have not told again what they hold, in alphabetical order. */
export function awaitedNodes(nodes: Iterable<NodeRecord>): readonly string[] {
  const all = [...nodes]
  const epoch = all.reduce((newest, node) => Math.max(newest, epochOf(node)), firstEpoch)
  return all
    .filter(node => node.gone === undefined && epochOf(node) < epoch)
    .map(({ name }) => name)
    .sort()
}

/** The record of a node that is gone for good. */
export function withoutReturn(record: NodeRecord, gone: NonNullable<NodeRecord['gone']>): NodeRecord {
  return { ...record, gone }
}

/** The record of a node that is not gone. */
export function withReturn(record: NodeRecord): NodeRecord {
  const { gone, ...rest } = record
  return gone === undefined ? record : rest
}
