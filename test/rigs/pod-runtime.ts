import type { Pod } from './cri.ts'

/** A sandbox that runs, with the address its pod got. */
export interface Sandbox {
  readonly id: string
  readonly ip: string
}

/**
 * Something that runs pods on the network of one conflist: a real containerd, or the part of it that calls the
 * plugins. Every failure rejects with the text that the runtime would report to kubelet.
 */
export interface PodRuntime {
  /** Name and version, for people. */
  readonly name: string
  run(pod: Pod): Promise<Sandbox>
  /** Sends DEL and takes the network away. */
  stop(id: string): Promise<void>
  /** Forgets a stopped sandbox. */
  remove(id: string): Promise<void>
  /** Ends the sandbox behind the runtime's back: no DEL is sent. */
  kill(id: string): Promise<void>
  close(): Promise<void>
}

/** A plugin of a conflist: its type and whatever else it takes. */
export interface PluginConfig extends Readonly<Record<string, unknown>> {
  readonly type: string
  readonly capabilities?: Readonly<Record<string, boolean>>
}

export interface Conflist {
  readonly cniVersion: string
  readonly name: string
  readonly plugins: readonly PluginConfig[]
}
