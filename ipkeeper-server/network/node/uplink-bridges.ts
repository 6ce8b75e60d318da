import { counted } from '../../../shared/text/counted.ts'
import type { UplinkItem } from '../../../shared/api/uplink.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HostUplinks } from '../pod-network.ts'
import { findAddressing, findLink, listLinks, type LinkState } from '../ip-show.ts'
import type { HostView } from './host-view.ts'
import { runHostCommands } from './kernel-settings.ts'
import { CommandRefused, runCommands } from '../ip-commands.ts'
import { checkUplink } from '../plan/check-host.ts'
import { checkHostInterface } from '../plan/interface-name.ts'
import {
  cidrOf,
  isAddressed,
  isLinkLocal,
  later,
  returning,
  type HostAddressing,
} from '../plan/host-addressing.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { joinUplink, partUplink, type UplinkJoint } from '../plan/underlay.ts'
import type { RunTool } from '../run-tool.ts'
import { UplinkRecords, type UplinkRecord } from './uplink-records.ts'

interface UplinkBridgesOptions {
  readonly run: RunTool
  readonly host: HostView
  readonly stateDir: string
  readonly bootId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of CLOCK_MONOTONIC: lifetimes of addresses go on by it. */
  readonly monotonic: () => number
  /** Whether an address is the gateway of a pool that is known. */
  readonly isGateway: (address: string) => boolean
  /** An uplink came to its bridge, or left it. */
  readonly onChange: (what: 'joined' | 'restored' | 'taken back', joint: UplinkJoint) => void
  /** What was broken off cannot be taken back now; it is tried again at the next ADD or start. */
  readonly onProblem: (bridge: string, error: unknown) => void
}

const nothing: HostAddressing = { addresses: [], routes: [] }

/**
 * Makes uplinks of the host ports of bridges (mode underlay), and gives them back when an operator says so: never when the
 * daemon stops, as pods stay.
 *
 * Addresses and routes of the uplink move only where the configuration says so. What moves is written down before the
 * kernel is changed, so that a daemon that was killed at any instant takes it back at its next start. A DHCP client, or
 * routers' announcements on the uplink, are the administrator's matter: leases that were given to the uplink run out on the
 * bridge, unless the client is told to look after that one.
 */
export class UplinkBridges implements HostUplinks {
  readonly #options: UplinkBridgesOptions
  readonly #records: UplinkRecords
  #last: Promise<unknown> = Promise.resolve()
  /** Bridges between two states: nobody may join them before they are in one. */
  readonly #unsettled = new Set<string>()

  constructor(options: UplinkBridgesOptions) {
    this.#options = options
    this.#records = new UplinkRecords(options.stateDir)
  }

  /**
   * Takes back what an earlier daemon did not finish; to be called before the first ADD. What cannot be taken back goes to
   * `onProblem`.
   */
  async recover(): Promise<void> {
    await this.#alone(async () => {
      for (const bridge of await this.#records.names()) {
        await this.#settle(bridge).catch((error: unknown) => {
          this.#options.onProblem(bridge, error)
        })
      }
    })
  }

  /** False after a change that could neither be finished nor be taken back. */
  isSettled(bridge: string): boolean {
    return !this.#unsettled.has(bridge)
  }

  /**
   * Makes the uplink of a network a port of its bridge, unless it is one.
   *
   * @throws IPK_LINK_CONFLICT, IPK_CONFIG_INVALID when nothing was touched; IPK_WIRING_FAILED, IPK_UNSUPPORTED when all was
   *   taken back
   */
  async join(config: MainConfig): Promise<void> {
    await this.#alone(async () => {
      const { host } = this.#options
      const former = await this.#settle(config.bridge)
      host.forget()
      try {
        await this.#joinNow(config, former)
      } finally {
        host.forget()
      }
    })
  }

  async list(): Promise<readonly UplinkItem[]> {
    const items: UplinkItem[] = []
    for (const bridge of await this.#records.names()) {
      const record = await this.#records.read(bridge)
      if (record?.bootId === this.#options.bootId) items.push(await this.#describe(record))
    }
    return items
  }

  async restore(bridge: string): Promise<UplinkItem> {
    checkHostInterface(bridge, 'bridge')
    return await this.#alone(async () => {
      const record = await this.#settle(bridge)
      if (!record) {
        throw new Problem('IPK_UPLINK_UNKNOWN', `no uplink was made a port of a bridge ${bridge} by ipkeeper`)
      }
      const item = await this.#describe(record)
      if (item.ports.length > 0) {
        const { length } = item.ports
        throw new Problem('IPK_UPLINK_IN_USE', `bridge ${bridge} has ${counted(length, 'other port')}`, {
          details: item.ports.join(', '),
        })
      }
      const leaving = { ...record, phase: 'leaving', ...this.#moment() } as const
      await this.#takeBack({ ...leaving, joint: { ...record.joint, moved: await this.#returning(record) } })
      this.#options.onChange('restored', record.joint)
      return item
    })
  }

  async #joinNow(config: MainConfig, former: UplinkRecord | undefined): Promise<void> {
    const { run, host, bootId } = this.#options
    const { bridge } = config
    const survey = await host.survey(config)
    checkUplink(config, survey)
    const { uplink } = survey
    if (!uplink || uplink.master === bridge) return
    const present = await findAddressing(run, uplink.name)
    const moves = config.moveHostAddresses && isAddressed(present.addressing)
    if (moves) refuseUnmovable(uplink.name, present.unmovable)
    const link = await findLink(run, uplink.name)
    const joint: UplinkJoint = {
      bridge,
      uplink: uplink.name,
      made: survey.bridge?.state === 'absent',
      wasUp: link?.up === true,
      moved: moves ? present.addressing : nothing,
    }
    const record: UplinkRecord = { version: 1, bootId, phase: 'joining', ...this.#moment(), joint }
    this.#unsettled.add(bridge)
    await this.#records.write(record)
    const facts = {
      mac: survey.bridge?.state === 'absent' ? survey.bridge.mac : '',
      mtu: uplink.mtu,
      vlan: config.vlan,
    }
    try {
      await runHostCommands(run, joinUplink(joint, facts), undefined, [config.bridge])
      await this.#records.write({ ...record, phase: 'joined', joint: withFormer(joint, former) })
      this.#unsettled.delete(bridge)
    } catch (error) {
      await this.#takeBack(record).catch((second: unknown) => {
        this.#options.onProblem(bridge, second)
      })
      throw isBusy(error) ? busy(uplink.name, bridge, error) : error
    }
    this.#options.onChange('joined', joint)
  }

  /** Takes back what was broken off; resolves to the record of a joint that stands. */
  async #settle(bridge: string): Promise<UplinkRecord | undefined> {
    const { run, bootId, onChange } = this.#options
    const record = await this.#records.read(bridge)
    if (!record) return undefined
    if (record.bootId !== bootId) {
      await this.#records.remove(bridge)
      return undefined
    }
    if (record.phase !== 'joined') {
      await this.#takeBack(record)
      onChange('taken back', record.joint)
      return undefined
    }
    if ((await findLink(run, bridge))?.kind === 'bridge') return record
    // Somebody removed the bridge by hand, and the addresses with it. They are given back where none came since.
    const { joint } = record
    const present = await findAddressing(run, joint.uplink)
    if (isAddressed(present.addressing)) await this.#records.remove(bridge)
    else {
      await this.#takeBack(record)
      onChange('taken back', joint)
    }
    return undefined
  }

  /** Brings the host to where it was before; the record is there until it is. */
  async #takeBack(record: UplinkRecord): Promise<void> {
    const { run, host } = this.#options
    const { joint } = record
    const uplink = await findLink(run, joint.uplink)
    if (!uplink) {
      throw new Problem('IPK_LINK_CONFLICT', `${joint.uplink}, the uplink of ${joint.bridge}, is gone`, {
        hint: `its addresses wait in the state folder, uplinks/${joint.bridge}.json, until it is back or the file is gone`,
      })
    }
    this.#unsettled.add(joint.bridge)
    await this.#records.write(record.phase === 'joined' ? { ...record, phase: 'leaving' } : record)
    const moved = later(joint.moved, Math.max(0, Math.floor(this.#ageOf(record) / 1000)))
    try {
      const commands = partUplink({ ...joint, moved }, uplink.master === joint.bridge)
      await runCommands(run, commands, undefined)
    } finally {
      host.forget()
    }
    await this.#records.remove(joint.bridge)
    this.#unsettled.delete(joint.bridge)
  }

  /** What goes back to the uplink. Throws IPK_LINK_CONFLICT. */
  async #returning({ joint }: UplinkRecord): Promise<HostAddressing> {
    const { run, isGateway } = this.#options
    const { addressing, unmovable } = await findAddressing(run, joint.bridge)
    refuseUnmovable(joint.bridge, unmovable)
    return returning(joint.moved, addressing, joint.made ? isGateway : 'the rest')
  }

  async #describe({ joint, phase, at }: UplinkRecord): Promise<UplinkItem> {
    const { bridge, uplink, made, moved } = joint
    const ports = await listLinks(this.#options.run, ['master', bridge])
    return {
      bridge,
      uplink,
      state: phase === 'joined' ? 'joined' : 'unfinished',
      since: new Date(at).toISOString(),
      made,
      addresses: moved.addresses.filter(address => !isLinkLocal(address)).map(cidrOf),
      routes: moved.routes.length,
      ports: ports.map((port: LinkState) => port.name).filter(name => name !== uplink),
    }
  }

  #moment(): Pick<UplinkRecord, 'at' | 'monotonicAt'> {
    const { now, monotonic } = this.#options
    return { at: now(), monotonicAt: monotonic() }
  }

  /** Milliseconds since the addresses of a record of this boot were looked at. */
  #ageOf({ at, monotonicAt }: UplinkRecord): number {
    const { now, monotonic } = this.#options
    return monotonicAt === undefined ? now() - at : monotonic() - monotonicAt
  }

  /** One change at a time: they are rare, and may be about the same links. */
  async #alone<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task, task)
    this.#last = turn
    return await turn
  }
}

/** What is known of a bridge that lost its uplink by somebody's hand stays known: it is ours, and so are its addresses. */
function withFormer(joint: UplinkJoint, former: UplinkRecord | undefined): UplinkJoint {
  if (former?.joint.uplink !== joint.uplink) return joint
  const { made, moved } = former.joint
  const present = new Set(joint.moved.addresses.map(cidrOf))
  const earlier = moved.addresses.filter(address => !present.has(cidrOf(address)))
  return {
    ...joint,
    made: made || joint.made,
    moved: { ...joint.moved, addresses: [...joint.moved.addresses, ...earlier] },
  }
}

function refuseUnmovable(link: string, unmovable: readonly string[]): void {
  if (unmovable.length === 0) return
  throw new Problem('IPK_LINK_CONFLICT', `what ${link} has cannot be moved: ${unmovable.join('; ')}`, {
    hint: `ip route show table all dev ${link}; take these routes out, or name a link that the host does not use`,
  })
}

function isBusy(error: unknown): error is CommandRefused {
  return error instanceof CommandRefused && /resource busy/.test(error.answer)
}

function busy(uplink: string, bridge: string, cause: CommandRefused): Problem {
  return new Problem(
    'IPK_LINK_CONFLICT',
    `uplink ${uplink} cannot become a port of ${bridge}: it already has other links (${cause.answer})`,
    {
      cause,
      hint: `macvlans or an ipvlan of pods use it: use "mode": "macvlan" for all networks on ${uplink}, or "underlay" for all`,
    },
  )
}
