import { readAddressPerFamily, type Dialect } from '../annotations/annotation-reader.ts'

/** Antrea (docs/antrea-ipam.md, "IPPool Annotations on Pod"). */
export const antrea: Dialect = {
  'ipam.antrea.io/pod-ips': annotation => ({
    addresses: readAddressPerFamily(annotation, annotation.value.split(','), 'bare'),
  }),
}
