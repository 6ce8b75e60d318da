import { dialectValues, oddLists, writtenLists } from './address-lists.ts'
import { cniArgs, environments, names, settings, versions } from './cni-input.ts'
import { dispatcher } from './dispatcher.ts'
import { brokenReplies, lyingReplies, wholeReplies } from './http-reply.ts'
import { foldedKeys, jsonBytes, jsonTexts } from './json.ts'
import { addressSpellings, addressTexts, macs, prefixes } from './net.ts'
import { damagedAnswers, wholeAnswers } from './netlink-answer.ts'
import { damagedNews, wholeNews } from './netlink-news.ts'
import type { Property } from './property.ts'
import { addRequests, askedAddresses, lists, podAnnotations } from './requests.ts'
import { socketRequests } from './routes.ts'

/** All that run in this process. */
export const properties: readonly Property[] = [
  dispatcher,
  jsonTexts,
  jsonBytes,
  foldedKeys,
  environments,
  names,
  cniArgs,
  versions,
  settings,
  addressSpellings,
  addressTexts,
  prefixes,
  macs,
  wholeReplies,
  brokenReplies,
  lyingReplies,
  wholeAnswers,
  damagedAnswers,
  wholeNews,
  damagedNews,
  podAnnotations,
  askedAddresses,
  writtenLists,
  oddLists,
  dialectValues,
  addRequests,
  lists,
  socketRequests,
]
