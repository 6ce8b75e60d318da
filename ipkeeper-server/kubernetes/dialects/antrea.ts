import { readAddressPerFamily } from '../annotations/annotation-values.ts'
import type { Dialect } from './dialect.ts'

/** Antrea (docs/antrea-ipam.md, "IPPool Annotations on Pod"). */
export const antrea: Dialect = {
  'ipam.antrea.io/pod-ips': annotation => ({
    addresses: readAddressPerFamily(annotation, annotation.value.split(','), 'bare'),
  }),
}
