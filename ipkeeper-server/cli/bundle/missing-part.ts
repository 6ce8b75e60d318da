/** Why a part of a bundle is not there, in a few words. It is no failure of the command. */
export class MissingPart extends Error {}

export const missing = (why: string): MissingPart => new MissingPart(why)
