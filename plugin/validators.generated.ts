// @ts-nocheck
// Made by scripts/generate-validators.ts from shared/api/cni.schema.ts; change that, then: make generate

import type { AddReply, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'

/** Checks a value against a schema; `errors` says what was wrong with the last one. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
}

const checkAddReply = validate10;
const schema11 = {"type":"object","required":["requestId","stateDir","result"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"result":{"anyOf":[{"type":"object","required":["cniVersion","ips"],"properties":{"cniVersion":{"type":"string","minLength":1},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}},"minItems":1}}},{"type":"object","required":["cniVersion","ip4"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}},{"type":"object","required":["cniVersion","ip6"],"properties":{"cniVersion":{"type":"string","minLength":1},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1}}}}}]}},"$id":"AddReply"};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="AddReply" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.requestId === undefined) && (missing0 = "requestId")) || ((data.stateDir === undefined) && (missing0 = "stateDir"))) || ((data.result === undefined) && (missing0 = "result"))){
validate10.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.requestId !== undefined){
let data0 = data.requestId;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate10.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate10.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.result !== undefined){
let data2 = data.result;
const _errs5 = errors;
const _errs6 = errors;
let valid1 = false;
const _errs7 = errors;
if(errors === _errs7){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if(((data2.cniVersion === undefined) && (missing1 = "cniVersion")) || ((data2.ips === undefined) && (missing1 = "ips"))){
const err0 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/0/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data3 = data2.cniVersion;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(data3.length < 1){
const err1 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/0/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err2 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/0/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var valid2 = _errs9 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data2.ips !== undefined){
let data4 = data2.ips;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data4)){
if(data4.length < 1){
const err3 = {instancePath:instancePath+"/result/ips",schemaPath:"#/properties/result/anyOf/0/properties/ips/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
var valid3 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
const _errs13 = errors;
if(errors === _errs13){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
let missing2;
if((data5.address === undefined) && (missing2 = "address")){
const err4 = {instancePath:instancePath+"/result/ips/" + i0,schemaPath:"#/properties/result/anyOf/0/properties/ips/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
if(data5.version !== undefined){
let data6 = data5.version;
const _errs15 = errors;
const _errs16 = errors;
let valid5 = false;
const _errs17 = errors;
if(typeof data6 !== "string"){
const err5 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if("4" !== data6){
const err6 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
var _valid1 = _errs17 === errors;
valid5 = valid5 || _valid1;
if(!valid5){
const _errs19 = errors;
if(typeof data6 !== "string"){
const err7 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if("6" !== data6){
const err8 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
var _valid1 = _errs19 === errors;
valid5 = valid5 || _valid1;
}
if(!valid5){
const err9 = {instancePath:instancePath+"/result/ips/" + i0+"/version",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
var valid4 = _errs15 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.address !== undefined){
let data7 = data5.address;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data7 === "string"){
if(data7.length < 1){
const err10 = {instancePath:instancePath+"/result/ips/" + i0+"/address",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err11 = {instancePath:instancePath+"/result/ips/" + i0+"/address",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.gateway !== undefined){
const _errs23 = errors;
if(typeof data5.gateway !== "string"){
const err12 = {instancePath:instancePath+"/result/ips/" + i0+"/gateway",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
var valid4 = _errs23 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.interface !== undefined){
let data9 = data5.interface;
const _errs25 = errors;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err13 = {instancePath:instancePath+"/result/ips/" + i0+"/interface",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(errors === _errs25){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err14 = {instancePath:instancePath+"/result/ips/" + i0+"/interface",schemaPath:"#/properties/result/anyOf/0/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
var valid4 = _errs25 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
else {
const err15 = {instancePath:instancePath+"/result/ips/" + i0,schemaPath:"#/properties/result/anyOf/0/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
var valid3 = _errs13 === errors;
if(!valid3){
break;
}
}
}
}
else {
const err16 = {instancePath:instancePath+"/result/ips",schemaPath:"#/properties/result/anyOf/0/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
const err17 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
var _valid0 = _errs7 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs27 = errors;
if(errors === _errs27){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing3;
if(((data2.cniVersion === undefined) && (missing3 = "cniVersion")) || ((data2.ip4 === undefined) && (missing3 = "ip4"))){
const err18 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/1/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data10 = data2.cniVersion;
const _errs29 = errors;
if(errors === _errs29){
if(typeof data10 === "string"){
if(data10.length < 1){
const err19 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/1/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err20 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/1/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
var valid6 = _errs29 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data2.ip4 !== undefined){
let data11 = data2.ip4;
const _errs31 = errors;
if(errors === _errs31){
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing4;
if((data11.ip === undefined) && (missing4 = "ip")){
const err21 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/properties/result/anyOf/1/properties/ip4/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
if(data11.ip !== undefined){
let data12 = data11.ip;
const _errs33 = errors;
if(errors === _errs33){
if(typeof data12 === "string"){
if(data12.length < 1){
const err22 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/properties/result/anyOf/1/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err23 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/properties/result/anyOf/1/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
const err24 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/properties/result/anyOf/1/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
var valid6 = _errs31 === errors;
}
else {
var valid6 = true;
}
}
}
}
else {
const err25 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var _valid0 = _errs27 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs35 = errors;
if(errors === _errs35){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing5;
if(((data2.cniVersion === undefined) && (missing5 = "cniVersion")) || ((data2.ip6 === undefined) && (missing5 = "ip6"))){
const err26 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/2/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data13 = data2.cniVersion;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data13 === "string"){
if(data13.length < 1){
const err27 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/2/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err28 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/properties/result/anyOf/2/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var valid8 = _errs37 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data2.ip6 !== undefined){
let data14 = data2.ip6;
const _errs39 = errors;
if(errors === _errs39){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing6;
if((data14.ip === undefined) && (missing6 = "ip")){
const err29 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/properties/result/anyOf/2/properties/ip6/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
else {
if(data14.ip !== undefined){
let data15 = data14.ip;
const _errs41 = errors;
if(errors === _errs41){
if(typeof data15 === "string"){
if(data15.length < 1){
const err30 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/properties/result/anyOf/2/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err31 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/properties/result/anyOf/2/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
const err32 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/properties/result/anyOf/2/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
var valid8 = _errs39 === errors;
}
else {
var valid8 = true;
}
}
}
}
else {
const err33 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
var _valid0 = _errs35 === errors;
valid1 = valid1 || _valid0;
}
}
if(!valid1){
const err34 = {instancePath:instancePath+"/result",schemaPath:"#/properties/result/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
validate10.errors = vErrors;
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
validate10.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate10.errors = vErrors;
return errors === 0;
}

const checkDoneReply = validate11;
const schema12 = {"type":"object","required":["requestId","stateDir"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1}},"$id":"DoneReply"};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="DoneReply" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.requestId === undefined) && (missing0 = "requestId")) || ((data.stateDir === undefined) && (missing0 = "stateDir"))){
validate11.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.requestId !== undefined){
let data0 = data.requestId;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate11.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate11.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate11.errors = vErrors;
return errors === 0;
}

const checkErrorReply = validate12;
const schema13 = {"type":"object","required":["code","message","hint","retryable","cniCode","details","requestId","stateDir"],"properties":{"code":{"type":"string","minLength":1},"message":{"type":"string","minLength":1},"hint":{"type":"string"},"retryable":{"type":"boolean"},"cniCode":{"type":"integer","minimum":1},"details":{"type":"string"},"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1}},"$id":"ErrorReply"};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="ErrorReply" */;
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.code === undefined) && (missing0 = "code")) || ((data.message === undefined) && (missing0 = "message"))) || ((data.hint === undefined) && (missing0 = "hint"))) || ((data.retryable === undefined) && (missing0 = "retryable"))) || ((data.cniCode === undefined) && (missing0 = "cniCode"))) || ((data.details === undefined) && (missing0 = "details"))) || ((data.requestId === undefined) && (missing0 = "requestId"))) || ((data.stateDir === undefined) && (missing0 = "stateDir"))){
validate12.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.code !== undefined){
let data0 = data.code;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate12.errors = [{instancePath:instancePath+"/code",schemaPath:"#/properties/code/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath:instancePath+"/hint",schemaPath:"#/properties/hint/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath:instancePath+"/retryable",schemaPath:"#/properties/retryable/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
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
validate12.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs9){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 1 || isNaN(data4)){
validate12.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
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
validate12.errors = [{instancePath:instancePath+"/details",schemaPath:"#/properties/details/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/requestId",schemaPath:"#/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/stateDir",schemaPath:"#/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"}];
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
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

export const validateAddReply = checkAddReply as unknown as Validator<AddReply>
export const validateDoneReply = checkDoneReply as unknown as Validator<DoneReply>
export const validateErrorReply = checkErrorReply as unknown as Validator<ErrorReply>
