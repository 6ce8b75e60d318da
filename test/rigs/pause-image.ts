import { ociArchive, type ArchivedImage } from './oci-archive.ts'
import { pauseProgram } from './pause-program.ts'
import { writeTar } from './tar-archive.ts'

/** An image with one static program. */
export function pauseImageOf(name: string): ArchivedImage {
  return {
    name,
    entrypoint: ['/pause'],
    layers: [writeTar([{ name: 'pause', mode: 0o755, content: pauseProgram() }])],
  }
}

/**
 * The same as an archive, for `ctr image import`.
 *
 * @param name the image's name in the store, such as `localhost/pause:1`
 */
export const pauseImage = (name: string): Buffer => ociArchive([pauseImageOf(name)])
