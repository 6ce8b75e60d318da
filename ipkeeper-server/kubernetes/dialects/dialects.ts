import { antrea } from './antrea.ts'
import { calico } from './calico.ts'
import { crdIpkeeper } from './crd-ipkeeper.ts'
import type { Dialect } from '../annotations/annotation-reader.ts'
import { hybridnet } from './hybridnet.ts'
import { kubeOvn } from './kube-ovn.ts'

/** Every dialect by the name that the daemon's configuration has for it. */
export const dialects = {
  'crd-ipkeeper': crdIpkeeper,
  calico,
  'kube-ovn': kubeOvn,
  hybridnet,
  antrea,
} as const satisfies Readonly<Record<string, Dialect>>

export type DialectName = keyof typeof dialects

export const dialectNames = Object.keys(dialects) as readonly DialectName[]
