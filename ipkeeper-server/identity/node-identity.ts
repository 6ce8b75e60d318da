import { randomBytes } from 'node:crypto'
import type { NodeClaim } from '../ipam/records/records.ts'
import { fenceIn, namesIn, readNodeFile, writeNodeFile, type FormerName, type NodeFile } from './node-file.ts'
import { judgeMachine, type MachineMarks, type MachineSight } from './plan/judge-machine.ts'

/**
 * first: the folder has not recorded before which node it belongs to. same: of this one, on this machine. other: it was another
 * machine's.
 */
export type FolderOrigin = 'first' | 'same' | 'other'

export interface IdentityOptions {
  readonly stateDir: string
  /** As configured. */
  readonly name: string
  /** Of the machine, and of the folder, as they are now. */
  readonly sight: MachineSight
  /** Whether the folder has been in use before, as far as can be told without its file. */
  readonly wasInUse: boolean
  readonly now: () => number
}

const inodeOf = (folder: string): string => folder.replace(/.*:/, '')

/** So many former names are remembered. */
const mostFormerNames = 16

/**
 * Who this node is: known by a file in its state folder, bound to the machine, and called by a name that may change. Its
 * records stand under `name`; where another one is configured, they are carried over to that one:
 *
 * 0. Where nodes share a store the name that is wanted is claimed there first. Until then it may be another machine's, and what
 *    stands under it as well.
 * 1. `begin`: from here on there may be records of this node under either name.
 * 2. Whoever carries them over does so; where he was broken off, he begins again.
 * 3. `settle`: they stand under the new name. The old one may still have to be given up.
 * 4. `forget`: nothing of this node is left under the old one.
 *
 * Each step is durable when it returns; all throw IPK_STORE_FAILED when it cannot be made so.
 */
export class NodeIdentity {
  readonly origin: FolderOrigin
  /** Why the folder is taken to be of this machine, or of another one; for people. */
  readonly why: string
  /** The name that is configured. */
  readonly wanted: string
  readonly #stateDir: string
  readonly #now: () => number
  #file: NodeFile

  private constructor(
    { stateDir, name, now }: IdentityOptions,
    file: NodeFile,
    { origin, why }: { readonly origin: FolderOrigin; readonly why: string },
  ) {
    this.#stateDir = stateDir
    this.#now = now
    this.#file = file
    this.wanted = name
    this.origin = origin
    this.why = why
  }

  /** Nothing is written yet. Throws IPK_STORE_FAILED for a file that cannot be read. */
  static open(options: IdentityOptions): NodeIdentity {
    const { stateDir, name, sight, wasInUse } = options
    const before = readNodeFile(stateDir)
    const verdict = before && judgeMachine(before, sight)
    if (before && verdict?.same === true) {
      // What is not seen this time is remembered: a mount may be forgotten.
      const seen = { ...before, ...sight, marks: { ...before.marks, ...sight.marks } }
      const file = before.hasTakenNone ? { ...seen, name } : seen
      return new NodeIdentity(options, file, { origin: 'same', why: verdict.why })
    }
    const file: NodeFile = {
      version: 1,
      id: randomBytes(16).toString('hex'),
      name,
      alsoNames: [],
      formerNames: [],
      ...sight,
      // Of a folder of old it is taken for granted.
      ...((before || !wasInUse) && { hasTakenNone: true }),
      ...(before && { copyOf: before.id, hasOpenedNone: true }),
      ...(!before && wasInUse && { fence: name }),
    }
    return new NodeIdentity(options, file, {
      origin: before ? 'other' : 'first',
      why: verdict?.why ?? 'the folder has not recorded before which node it belongs to',
    })
  }

  /** From here on the folder is of this node. To be called once what was another machine's has been put aside. */
  take(): void {
    this.#write(this.#file)
  }

  get id(): string {
    return this.#file.id
  }

  get fence(): string {
    return fenceIn(this.#file)
  }

  get marks(): MachineMarks {
    return this.#file.marks
  }

  get bootId(): string {
    return this.#file.bootId
  }

  /** Under which its records stand. */
  get name(): string {
    return this.#file.name
  }

  /** The newest first. */
  get formerNames(): readonly FormerName[] {
    return this.#file.formerNames
  }

  /** The ID of the other machine whose folder this was. */
  get copyOf(): string | undefined {
    return this.#file.copyOf
  }

  /** The folder was another machine's, and this one has not opened a store in it yet, at this start or an earlier one. */
  get hasOpenedNone(): boolean {
    return this.#file.hasOpenedNone === true
  }

  /** A store was opened: from here on one that is missing is missed. */
  opened(): void {
    if (this.hasOpenedNone) this.#writeWithout('hasOpenedNone')
  }

  /** Of the claims that this folder has made in this boot; undefined where it has made none. */
  get session(): string | undefined {
    const { claimed, bootId, folder } = this.#file
    return claimed?.bootId === bootId && claimed.folder === folder ? claimed.session : undefined
  }

  /** Whether it has had all of its names in this boot: no other machine has them, and none with a copy of its disk. */
  get wasSure(): boolean {
    return this.session !== undefined && this.#file.claimed?.isPartial !== true
  }

  /**
   * It is not the folder that has claimed the names last, but was put in its place: what is in it may be older than what that one did. By the
   * inode alone, since devices may be numbered anew at a boot.
   */
  get mayBeOlder(): boolean {
    const { claimed, folder } = this.#file
    return claimed !== undefined && inodeOf(claimed.folder) !== inodeOf(folder)
  }

  /** By which it has claimed names last; of a folder of old, which never did, the session is its ID. */
  get lastClaim(): NodeClaim {
    const { id, bootId, claimed = { session: id, bootId }, marks } = this.#file
    return { id, session: claimed.session, bootId: claimed.bootId, ...marks, since: this.#now() }
  }

  /** A name was claimed with this session. */
  claimed(session: string): void {
    const { bootId, folder } = this.#file
    const isPartial = this.wasSure ? {} : ({ isPartial: true } as const)
    this.#write({ ...this.#file, claimed: { session, bootId, folder, ...isPartial } })
  }

  /** All of its names are this node's. */
  sure(): void {
    if (!this.#file.claimed?.isPartial) return
    const { session, bootId, folder } = this.#file.claimed
    this.#write({ ...this.#file, claimed: { session, bootId, folder } })
  }

  /** Under which there may be records of this node: none before it had a name. The one in force comes first. */
  names(): readonly string[] {
    return namesIn(this.#file)
  }

  /** Whether a record that bears this name may be of this node. */
  isOwn(name: string): boolean {
    return this.names().includes(name)
  }

  /** Names besides `wanted` under which there may be something of this node. */
  leftNames(): readonly string[] {
    return this.names().filter(name => name !== this.wanted)
  }

  /** @param found under which records of this node were found besides */
  begin(found: Iterable<string> = []): void {
    this.took()
    const names = new Set([...this.#file.alsoNames, this.wanted, ...found])
    names.delete(this.name)
    if (names.size > this.#file.alsoNames.length) this.#write({ ...this.#file, alsoNames: [...names] })
  }

  /** The name in force is this node's. */
  took(): void {
    if (this.#file.hasTakenNone === true) this.#writeWithout('hasTakenNone')
  }

  settle(): void {
    const { wanted } = this
    if (this.name === wanted) return
    const alsoNames = this.leftNames()
    this.#write({ ...this.#file, name: wanted, alsoNames })
  }

  forget(name: string): void {
    const alsoNames = this.#file.alsoNames.filter(other => other !== name)
    const others = this.#file.formerNames.filter(former => former.name !== name && former.name !== this.name)
    const formerNames = [{ name, until: this.#now() }, ...others].slice(0, mostFormerNames)
    this.#write({ ...this.#file, alsoNames, formerNames })
  }

  #writeWithout(mark: 'hasOpenedNone' | 'hasTakenNone'): void {
    this.#write({ ...this.#file, [mark]: undefined })
  }

  #write(file: NodeFile): void {
    const before = readNodeFile(this.#stateDir)
    if (JSON.stringify(file) !== JSON.stringify(before)) writeNodeFile(this.#stateDir, file)
    this.#file = file
  }
}
