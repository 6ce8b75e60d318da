// @ts-nocheck
// Made by scripts/generate-validators.ts from shared/api/cni.schema.ts; change that, then: make generate

import type { AddReply, AddResult, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'

/** Checks a value against a schema; `errors` says what was wrong with the last one. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
}

const checkAddReply = validate10;
const schema11 = {"anyOf":[{"type":"object","required":["requestId","stateDir","result"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"result":{"anyOf":[{"type":"object","required":["cniVersion","ips"],"properties":{"cniVersion":{"type":"string","minLength":1},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}},"minItems":1}}},{"type":"object","required":["cniVersion","ip4"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}},{"type":"object","required":["cniVersion","ip6"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}}]}}},{"type":"object","required":["requestId","stateDir","delegate"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"delegate":{"type":"object","required":["type","ownRanges"],"properties":{"type":{"type":"string","minLength":1,"description":"as \"ipam.fallback.type\" says"},"ownRanges":{"type":"array","items":{"type":"object","required":["first","last"],"properties":{"first":{"type":"string","minLength":1},"last":{"type":"string","minLength":1}}},"description":"addresses that ipkeeper gives; the fallback must not"}}}}}],"$id":"AddReply"};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="AddReply" */;
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(errors === _errs1){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.requestId === undefined) && (missing0 = "requestId")) || ((data.stateDir === undefined) && (missing0 = "stateDir"))) || ((data.result === undefined) && (missing0 = "result"))){
const err0 = {instancePath,schemaPath:"#/anyOf/0/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.requestId !== undefined){
let data0 = data.requestId;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data0 === "string"){
if(data0.length < 1){
const err1 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/0/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/0/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var valid1 = _errs3 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.stateDir !== undefined){
let data1 = data.stateDir;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data1 === "string"){
if(data1.length < 1){
const err3 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/0/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/0/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.result !== undefined){
let data2 = data.result;
const _errs7 = errors;
const _errs8 = errors;
let valid2 = false;
const _errs9 = errors;
if(errors === _errs9){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if(((data2.cniVersion === undefined) && (missing1 = "cniVersion")) || ((data2.ips === undefined) && (missing1 = "ips"))){
const err5 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/0/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data3 = data2.cniVersion;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data3 === "string"){
if(data3.length < 1){
const err6 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
var valid3 = _errs11 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.ips !== undefined){
let data4 = data2.ips;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data4)){
if(data4.length < 1){
const err8 = {instancePath:instancePath+"/result/ips",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
else {
var valid4 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
const _errs15 = errors;
if(errors === _errs15){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
let missing2;
if((data5.address === undefined) && (missing2 = "address")){
const err9 = {instancePath:instancePath+"/result/ips/" + i0,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
else {
if(data5.version !== undefined){
let data6 = data5.version;
const _errs17 = errors;
const _errs18 = errors;
let valid6 = false;
const _errs19 = errors;
if(typeof data6 !== "string"){
const err10 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if("4" !== data6){
const err11 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
var _valid2 = _errs19 === errors;
valid6 = valid6 || _valid2;
if(!valid6){
const _errs21 = errors;
if(typeof data6 !== "string"){
const err12 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if("6" !== data6){
const err13 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
var _valid2 = _errs21 === errors;
valid6 = valid6 || _valid2;
}
if(!valid6){
const err14 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
else {
errors = _errs18;
if(vErrors !== null){
if(_errs18){
vErrors.length = _errs18;
}
else {
vErrors = null;
}
}
}
var valid5 = _errs17 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data5.address !== undefined){
let data7 = data5.address;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data7 === "string"){
if(data7.length < 1){
const err15 = {instancePath:instancePath+"/result/ips/" + i0+"/address",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/result/ips/" + i0+"/address",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
var valid5 = _errs23 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data5.gateway !== undefined){
const _errs25 = errors;
if(typeof data5.gateway !== "string"){
const err17 = {instancePath:instancePath+"/result/ips/" + i0+"/gateway",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
var valid5 = _errs25 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data5.interface !== undefined){
let data9 = data5.interface;
const _errs27 = errors;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err18 = {instancePath:instancePath+"/result/ips/" + i0+"/interface",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(errors === _errs27){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err19 = {instancePath:instancePath+"/result/ips/" + i0+"/interface",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
var valid5 = _errs27 === errors;
}
else {
var valid5 = true;
}
}
}
}
}
}
else {
const err20 = {instancePath:instancePath+"/result/ips/" + i0,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
var valid4 = _errs15 === errors;
if(!valid4){
break;
}
}
}
}
else {
const err21 = {instancePath:instancePath+"/result/ips",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var valid3 = _errs13 === errors;
}
else {
var valid3 = true;
}
}
}
}
else {
const err22 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
var _valid1 = _errs9 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs29 = errors;
if(errors === _errs29){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing3;
if(((data2.cniVersion === undefined) && (missing3 = "cniVersion")) || ((data2.ip4 === undefined) && (missing3 = "ip4"))){
const err23 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/1/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data10 = data2.cniVersion;
const _errs31 = errors;
if(errors === _errs31){
if(typeof data10 === "string"){
if(data10.length < 1){
const err24 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var valid7 = _errs31 === errors;
}
else {
var valid7 = true;
}
if(valid7){
if(data2.ip4 !== undefined){
let data11 = data2.ip4;
const _errs33 = errors;
if(errors === _errs33){
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing4;
if((data11.ip === undefined) && (missing4 = "ip")){
const err26 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
else {
if(data11.ip !== undefined){
let data12 = data11.ip;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data12 === "string"){
if(data12.length < 1){
const err27 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
}
}
else {
const err29 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
var valid7 = _errs33 === errors;
}
else {
var valid7 = true;
}
}
}
}
else {
const err30 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
var _valid1 = _errs29 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs37 = errors;
if(errors === _errs37){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing5;
if(((data2.cniVersion === undefined) && (missing5 = "cniVersion")) || ((data2.ip6 === undefined) && (missing5 = "ip6"))){
const err31 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/2/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data13 = data2.cniVersion;
const _errs39 = errors;
if(errors === _errs39){
if(typeof data13 === "string"){
if(data13.length < 1){
const err32 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
else {
const err33 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
var valid9 = _errs39 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data2.ip6 !== undefined){
let data14 = data2.ip6;
const _errs41 = errors;
if(errors === _errs41){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing6;
if((data14.ip === undefined) && (missing6 = "ip")){
const err34 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
else {
if(data14.ip !== undefined){
let data15 = data14.ip;
const _errs43 = errors;
if(errors === _errs43){
if(typeof data15 === "string"){
if(data15.length < 1){
const err35 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
else {
const err36 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
}
}
else {
const err37 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
var valid9 = _errs41 === errors;
}
else {
var valid9 = true;
}
}
}
}
else {
const err38 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
var _valid1 = _errs37 === errors;
valid2 = valid2 || _valid1;
}
}
if(!valid2){
const err39 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
else {
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
else {
const err40 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs45 = errors;
if(errors === _errs45){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing7;
if((((data.requestId === undefined) && (missing7 = "requestId")) || ((data.stateDir === undefined) && (missing7 = "stateDir"))) || ((data.delegate === undefined) && (missing7 = "delegate"))){
const err41 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
else {
if(data.requestId !== undefined){
let data16 = data.requestId;
const _errs47 = errors;
if(errors === _errs47){
if(typeof data16 === "string"){
if(data16.length < 1){
const err42 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
else {
const err43 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
var valid11 = _errs47 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data.stateDir !== undefined){
let data17 = data.stateDir;
const _errs49 = errors;
if(errors === _errs49){
if(typeof data17 === "string"){
if(data17.length < 1){
const err44 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
else {
const err45 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
var valid11 = _errs49 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data.delegate !== undefined){
let data18 = data.delegate;
const _errs51 = errors;
if(errors === _errs51){
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
let missing8;
if(((data18.type === undefined) && (missing8 = "type")) || ((data18.ownRanges === undefined) && (missing8 = "ownRanges"))){
const err46 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/required",keyword:"required",params:{missingProperty: missing8},message:"must have required property '"+missing8+"'"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
else {
if(data18.type !== undefined){
let data19 = data18.type;
const _errs53 = errors;
if(errors === _errs53){
if(typeof data19 === "string"){
if(data19.length < 1){
const err47 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
else {
const err48 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
var valid12 = _errs53 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data18.ownRanges !== undefined){
let data20 = data18.ownRanges;
const _errs55 = errors;
if(errors === _errs55){
if(Array.isArray(data20)){
var valid13 = true;
const len1 = data20.length;
for(let i1=0; i1<len1; i1++){
let data21 = data20[i1];
const _errs57 = errors;
if(errors === _errs57){
if(data21 && typeof data21 == "object" && !Array.isArray(data21)){
let missing9;
if(((data21.first === undefined) && (missing9 = "first")) || ((data21.last === undefined) && (missing9 = "last"))){
const err49 = {instancePath:instancePath+"/delegate/ownRanges/" + i1,schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
else {
if(data21.first !== undefined){
let data22 = data21.first;
const _errs59 = errors;
if(errors === _errs59){
if(typeof data22 === "string"){
if(data22.length < 1){
const err50 = {instancePath:instancePath+"/delegate/ownRanges/" + i1+"/first",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/first/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
else {
const err51 = {instancePath:instancePath+"/delegate/ownRanges/" + i1+"/first",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/first/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
var valid14 = _errs59 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data21.last !== undefined){
let data23 = data21.last;
const _errs61 = errors;
if(errors === _errs61){
if(typeof data23 === "string"){
if(data23.length < 1){
const err52 = {instancePath:instancePath+"/delegate/ownRanges/" + i1+"/last",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/last/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
else {
const err53 = {instancePath:instancePath+"/delegate/ownRanges/" + i1+"/last",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/last/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
var valid14 = _errs61 === errors;
}
else {
var valid14 = true;
}
}
}
}
else {
const err54 = {instancePath:instancePath+"/delegate/ownRanges/" + i1,schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
var valid13 = _errs57 === errors;
if(!valid13){
break;
}
}
}
else {
const err55 = {instancePath:instancePath+"/delegate/ownRanges",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
var valid12 = _errs55 === errors;
}
else {
var valid12 = true;
}
}
}
}
else {
const err56 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
var valid11 = _errs51 === errors;
}
else {
var valid11 = true;
}
}
}
}
}
else {
const err57 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
var _valid0 = _errs45 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err58 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
validate10.errors = vErrors;
return false;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate10.errors = vErrors;
return errors === 0;
}

const checkAddResult = validate11;
const schema12 = {"anyOf":[{"type":"object","required":["cniVersion","ips"],"properties":{"cniVersion":{"type":"string","minLength":1},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}},"minItems":1}}},{"type":"object","required":["cniVersion","ip4"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}},{"type":"object","required":["cniVersion","ip6"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}}]};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(errors === _errs1){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.cniVersion === undefined) && (missing0 = "cniVersion")) || ((data.ips === undefined) && (missing0 = "ips"))){
const err0 = {instancePath,schemaPath:"#/anyOf/0/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.cniVersion !== undefined){
let data0 = data.cniVersion;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data0 === "string"){
if(data0.length < 1){
const err1 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/0/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/0/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var valid1 = _errs3 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.ips !== undefined){
let data1 = data.ips;
const _errs5 = errors;
if(errors === _errs5){
if(Array.isArray(data1)){
if(data1.length < 1){
const err3 = {instancePath:instancePath+"/ips",schemaPath:"#/anyOf/0/properties/ips/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
var valid2 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs7 = errors;
if(errors === _errs7){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if((data2.address === undefined) && (missing1 = "address")){
const err4 = {instancePath:instancePath+"/ips/" + i0,schemaPath:"#/anyOf/0/properties/ips/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
if(data2.version !== undefined){
let data3 = data2.version;
const _errs9 = errors;
const _errs10 = errors;
let valid4 = false;
const _errs11 = errors;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if("4" !== data3){
const err6 = {instancePath:instancePath+"/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
var _valid1 = _errs11 === errors;
valid4 = valid4 || _valid1;
if(!valid4){
const _errs13 = errors;
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if("6" !== data3){
const err8 = {instancePath:instancePath+"/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
var _valid1 = _errs13 === errors;
valid4 = valid4 || _valid1;
}
if(!valid4){
const err9 = {instancePath:instancePath+"/ips/" + i0+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
else {
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
}
var valid3 = _errs9 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.address !== undefined){
let data4 = data2.address;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data4 === "string"){
if(data4.length < 1){
const err10 = {instancePath:instancePath+"/ips/" + i0+"/address",schemaPath:"#/anyOf/0/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/ips/" + i0+"/address",schemaPath:"#/anyOf/0/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
var valid3 = _errs15 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.gateway !== undefined){
const _errs17 = errors;
if(typeof data2.gateway !== "string"){
const err12 = {instancePath:instancePath+"/ips/" + i0+"/gateway",schemaPath:"#/anyOf/0/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
var valid3 = _errs17 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.interface !== undefined){
let data6 = data2.interface;
const _errs19 = errors;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err13 = {instancePath:instancePath+"/ips/" + i0+"/interface",schemaPath:"#/anyOf/0/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(errors === _errs19){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err14 = {instancePath:instancePath+"/ips/" + i0+"/interface",schemaPath:"#/anyOf/0/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
var valid3 = _errs19 === errors;
}
else {
var valid3 = true;
}
}
}
}
}
}
else {
const err15 = {instancePath:instancePath+"/ips/" + i0,schemaPath:"#/anyOf/0/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
var valid2 = _errs7 === errors;
if(!valid2){
break;
}
}
}
}
else {
const err16 = {instancePath:instancePath+"/ips",schemaPath:"#/anyOf/0/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
const err17 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs21 = errors;
if(errors === _errs21){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing2;
if(((data.cniVersion === undefined) && (missing2 = "cniVersion")) || ((data.ip4 === undefined) && (missing2 = "ip4"))){
const err18 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
else {
if(data.cniVersion !== undefined){
let data7 = data.cniVersion;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data7 === "string"){
if(data7.length < 1){
const err19 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/1/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/1/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
var valid5 = _errs23 === errors;
}
else {
var valid5 = true;
}
if(valid5){
if(data.ip4 !== undefined){
let data8 = data.ip4;
const _errs25 = errors;
if(errors === _errs25){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing3;
if((data8.ip === undefined) && (missing3 = "ip")){
const err21 = {instancePath:instancePath+"/ip4",schemaPath:"#/anyOf/1/properties/ip4/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
if(data8.ip !== undefined){
let data9 = data8.ip;
const _errs27 = errors;
if(errors === _errs27){
if(typeof data9 === "string"){
if(data9.length < 1){
const err22 = {instancePath:instancePath+"/ip4/ip",schemaPath:"#/anyOf/1/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/ip4/ip",schemaPath:"#/anyOf/1/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
}
}
else {
const err24 = {instancePath:instancePath+"/ip4",schemaPath:"#/anyOf/1/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
var valid5 = _errs25 === errors;
}
else {
var valid5 = true;
}
}
}
}
else {
const err25 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var _valid0 = _errs21 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs29 = errors;
if(errors === _errs29){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing4;
if(((data.cniVersion === undefined) && (missing4 = "cniVersion")) || ((data.ip6 === undefined) && (missing4 = "ip6"))){
const err26 = {instancePath,schemaPath:"#/anyOf/2/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
else {
if(data.cniVersion !== undefined){
let data10 = data.cniVersion;
const _errs31 = errors;
if(errors === _errs31){
if(typeof data10 === "string"){
if(data10.length < 1){
const err27 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/2/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/2/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var valid7 = _errs31 === errors;
}
else {
var valid7 = true;
}
if(valid7){
if(data.ip6 !== undefined){
let data11 = data.ip6;
const _errs33 = errors;
if(errors === _errs33){
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing5;
if((data11.ip === undefined) && (missing5 = "ip")){
const err29 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/2/properties/ip6/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
else {
if(data11.ip !== undefined){
let data12 = data11.ip;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data12 === "string"){
if(data12.length < 1){
const err30 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/2/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
else {
const err31 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/2/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
}
}
else {
const err32 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/2/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
var valid7 = _errs33 === errors;
}
else {
var valid7 = true;
}
}
}
}
else {
const err33 = {instancePath,schemaPath:"#/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
var _valid0 = _errs29 === errors;
valid0 = valid0 || _valid0;
}
}
if(!valid0){
const err34 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
validate11.errors = vErrors;
return false;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate11.errors = vErrors;
return errors === 0;
}

const checkDoneReply = validate12;
const schema13 = {"type":"object","required":["requestId","stateDir"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"delegatedTo":{"anyOf":[{"type":"string","minLength":1},{"type":"null"}],"description":"check and del: the plugin of \"ipam.fallback\" that gave the addresses; null where they were ours; absent when unknown"}},"$id":"DoneReply"};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="DoneReply" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.requestId === undefined) && (missing0 = "requestId")) || ((data.stateDir === undefined) && (missing0 = "stateDir"))){
validate12.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.requestId !== undefined){
let data0 = data.requestId;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate12.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stateDir !== undefined){
let data1 = data.stateDir;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(data1.length < 1){
validate12.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.delegatedTo !== undefined){
let data2 = data.delegatedTo;
const _errs5 = errors;
const _errs6 = errors;
let valid1 = false;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length < 1){
const err0 = {instancePath:instancePath+"/delegatedTo",schemaPath:"#/properties/delegatedTo/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/delegatedTo",schemaPath:"#/properties/delegatedTo/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs9 = errors;
if(data2 !== null){
const err2 = {instancePath:instancePath+"/delegatedTo",schemaPath:"#/properties/delegatedTo/anyOf/1/type",keyword:"type",params:{type: "null"},message:"must be null"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err3 = {instancePath:instancePath+"/delegatedTo",schemaPath:"#/properties/delegatedTo/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate12.errors = vErrors;
return false;
}
else {
errors = _errs6;
if(vErrors !== null){
if(_errs6){
vErrors.length = _errs6;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

const checkErrorReply = validate13;
const schema14 = {"type":"object","required":["code","message","hint","retryable","cniCode","details","requestId","stateDir"],"properties":{"code":{"type":"string","minLength":1},"message":{"type":"string","minLength":1},"hint":{"type":"string"},"retryable":{"type":"boolean"},"cniCode":{"type":"integer","minimum":1},"details":{"type":"string"},"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1}},"$id":"ErrorReply"};

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="ErrorReply" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.code === undefined) && (missing0 = "code")) || ((data.message === undefined) && (missing0 = "message"))) || ((data.hint === undefined) && (missing0 = "hint"))) || ((data.retryable === undefined) && (missing0 = "retryable"))) || ((data.cniCode === undefined) && (missing0 = "cniCode"))) || ((data.details === undefined) && (missing0 = "details"))) || ((data.requestId === undefined) && (missing0 = "requestId"))) || ((data.stateDir === undefined) && (missing0 = "stateDir"))){
validate13.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.code !== undefined){
let data0 = data.code;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate13.errors = [{instancePath:instancePath+"/code",schemaPath:"#/properties/code/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.message !== undefined){
let data1 = data.message;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(data1.length < 1){
validate13.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.hint !== undefined){
const _errs5 = errors;
if(typeof data.hint !== "string"){
validate13.errors = [{instancePath:instancePath+"/hint",schemaPath:"#/properties/hint/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.retryable !== undefined){
const _errs7 = errors;
if(typeof data.retryable !== "boolean"){
validate13.errors = [{instancePath:instancePath+"/retryable",schemaPath:"#/properties/retryable/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cniCode !== undefined){
let data4 = data.cniCode;
const _errs9 = errors;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
validate13.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs9){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 1 || isNaN(data4)){
validate13.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.details !== undefined){
const _errs11 = errors;
if(typeof data.details !== "string"){
validate13.errors = [{instancePath:instancePath+"/details",schemaPath:"#/properties/details/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requestId !== undefined){
let data6 = data.requestId;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 === "string"){
if(data6.length < 1){
validate13.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stateDir !== undefined){
let data7 = data.stateDir;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(data7.length < 1){
validate13.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate13.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate13.errors = vErrors;
return errors === 0;
}

export const validateAddReply = checkAddReply as unknown as Validator<AddReply>
export const validateAddResult = checkAddResult as unknown as Validator<AddResult>
export const validateDoneReply = checkDoneReply as unknown as Validator<DoneReply>
export const validateErrorReply = checkErrorReply as unknown as Validator<ErrorReply>
