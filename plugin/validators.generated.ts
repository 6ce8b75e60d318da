// @ts-nocheck
// Made by scripts/generate-validators.ts from shared/api/cni.schema.ts; change that, then: make generate

import type { AddReply, AddResult, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'

/** Checks a value against a schema; `errors` says what was wrong with the last one. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
}

const checkAddReply = validate10;
const schema11 = {"anyOf":[{"type":"object","required":["requestId","stateDir","result"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"stateFolder":{"type":"string","minLength":1,"description":"device and inode of stateDir as the daemon sees it, \"DEV:INO\": in a container the path may lead to another folder"},"result":{"type":"object","required":["cniVersion"],"properties":{"cniVersion":{"type":"string","minLength":1},"interfaces":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}}},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}}}}}},{"type":"object","required":["requestId","stateDir","delegate"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"stateFolder":{"type":"string","minLength":1,"description":"device and inode of stateDir as the daemon sees it, \"DEV:INO\": in a container the path may lead to another folder"},"delegate":{"type":"object","required":["type"],"properties":{"type":{"type":"string","minLength":1,"description":"as \"ipam.fallback.type\" says"}}}}}],"$id":"AddReply"};

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
if(data.stateFolder !== undefined){
let data2 = data.stateFolder;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length < 1){
const err5 = {instancePath:instancePath+"/stateFolder",schemaPath:"#/anyOf/0/properties/stateFolder/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/stateFolder",schemaPath:"#/anyOf/0/properties/stateFolder/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.result !== undefined){
let data3 = data.result;
const _errs9 = errors;
if(errors === _errs9){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing1;
if((data3.cniVersion === undefined) && (missing1 = "cniVersion")){
const err7 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
else {
if(data3.cniVersion !== undefined){
let data4 = data3.cniVersion;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data4 === "string"){
if(data4.length < 1){
const err8 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.interfaces !== undefined){
let data5 = data3.interfaces;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data5)){
var valid3 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
const _errs15 = errors;
if(errors === _errs15){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
let missing2;
if((data6.name === undefined) && (missing2 = "name")){
const err10 = {instancePath:instancePath+"/result/interfaces/" + i0,schemaPath:"#/anyOf/0/properties/result/properties/interfaces/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
else {
if(data6.name !== undefined){
if(typeof data6.name !== "string"){
const err11 = {instancePath:instancePath+"/result/interfaces/" + i0+"/name",schemaPath:"#/anyOf/0/properties/result/properties/interfaces/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
else {
const err12 = {instancePath:instancePath+"/result/interfaces/" + i0,schemaPath:"#/anyOf/0/properties/result/properties/interfaces/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
var valid3 = _errs15 === errors;
if(!valid3){
break;
}
}
}
else {
const err13 = {instancePath:instancePath+"/result/interfaces",schemaPath:"#/anyOf/0/properties/result/properties/interfaces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.ips !== undefined){
let data8 = data3.ips;
const _errs19 = errors;
if(errors === _errs19){
if(Array.isArray(data8)){
var valid5 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
let data9 = data8[i1];
const _errs21 = errors;
if(errors === _errs21){
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
let missing3;
if((data9.address === undefined) && (missing3 = "address")){
const err14 = {instancePath:instancePath+"/result/ips/" + i1,schemaPath:"#/anyOf/0/properties/result/properties/ips/items/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
else {
if(data9.version !== undefined){
let data10 = data9.version;
const _errs23 = errors;
const _errs24 = errors;
let valid7 = false;
const _errs25 = errors;
if(typeof data10 !== "string"){
const err15 = {instancePath:instancePath+"/result/ips/" + i1+"/version",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if("4" !== data10){
const err16 = {instancePath:instancePath+"/result/ips/" + i1+"/version",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
var _valid1 = _errs25 === errors;
valid7 = valid7 || _valid1;
if(!valid7){
const _errs27 = errors;
if(typeof data10 !== "string"){
const err17 = {instancePath:instancePath+"/result/ips/" + i1+"/version",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if("6" !== data10){
const err18 = {instancePath:instancePath+"/result/ips/" + i1+"/version",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
var _valid1 = _errs27 === errors;
valid7 = valid7 || _valid1;
}
if(!valid7){
const err19 = {instancePath:instancePath+"/result/ips/" + i1+"/version",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
else {
errors = _errs24;
if(vErrors !== null){
if(_errs24){
vErrors.length = _errs24;
}
else {
vErrors = null;
}
}
}
var valid6 = _errs23 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data9.address !== undefined){
let data11 = data9.address;
const _errs29 = errors;
if(errors === _errs29){
if(typeof data11 === "string"){
if(data11.length < 1){
const err20 = {instancePath:instancePath+"/result/ips/" + i1+"/address",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/result/ips/" + i1+"/address",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
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
if(data9.gateway !== undefined){
const _errs31 = errors;
if(typeof data9.gateway !== "string"){
const err22 = {instancePath:instancePath+"/result/ips/" + i1+"/gateway",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
var valid6 = _errs31 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data9.interface !== undefined){
let data13 = data9.interface;
const _errs33 = errors;
if(!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))){
const err23 = {instancePath:instancePath+"/result/ips/" + i1+"/interface",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(errors === _errs33){
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 < 0 || isNaN(data13)){
const err24 = {instancePath:instancePath+"/result/ips/" + i1+"/interface",schemaPath:"#/anyOf/0/properties/result/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
var valid6 = _errs33 === errors;
}
else {
var valid6 = true;
}
}
}
}
}
}
else {
const err25 = {instancePath:instancePath+"/result/ips/" + i1,schemaPath:"#/anyOf/0/properties/result/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
var valid5 = _errs21 === errors;
if(!valid5){
break;
}
}
}
else {
const err26 = {instancePath:instancePath+"/result/ips",schemaPath:"#/anyOf/0/properties/result/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
var valid2 = _errs19 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.routes !== undefined){
let data14 = data3.routes;
const _errs35 = errors;
if(errors === _errs35){
if(Array.isArray(data14)){
var valid8 = true;
const len2 = data14.length;
for(let i2=0; i2<len2; i2++){
let data15 = data14[i2];
const _errs37 = errors;
if(errors === _errs37){
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
let missing4;
if((data15.dst === undefined) && (missing4 = "dst")){
const err27 = {instancePath:instancePath+"/result/routes/" + i2,schemaPath:"#/anyOf/0/properties/result/properties/routes/items/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
else {
if(data15.dst !== undefined){
let data16 = data15.dst;
const _errs39 = errors;
if(errors === _errs39){
if(typeof data16 === "string"){
if(data16.length < 1){
const err28 = {instancePath:instancePath+"/result/routes/" + i2+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
else {
const err29 = {instancePath:instancePath+"/result/routes/" + i2+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
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
if(data15.gw !== undefined){
const _errs41 = errors;
if(typeof data15.gw !== "string"){
const err30 = {instancePath:instancePath+"/result/routes/" + i2+"/gw",schemaPath:"#/anyOf/0/properties/result/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
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
const err31 = {instancePath:instancePath+"/result/routes/" + i2,schemaPath:"#/anyOf/0/properties/result/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
var valid8 = _errs37 === errors;
if(!valid8){
break;
}
}
}
else {
const err32 = {instancePath:instancePath+"/result/routes",schemaPath:"#/anyOf/0/properties/result/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
var valid2 = _errs35 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.ip4 !== undefined){
let data18 = data3.ip4;
const _errs43 = errors;
if(errors === _errs43){
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
let missing5;
if((data18.ip === undefined) && (missing5 = "ip")){
const err33 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/properties/ip4/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
else {
if(data18.ip !== undefined){
let data19 = data18.ip;
const _errs45 = errors;
if(errors === _errs45){
if(typeof data19 === "string"){
if(data19.length < 1){
const err34 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
else {
const err35 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
var valid10 = _errs45 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data18.gateway !== undefined){
const _errs47 = errors;
if(typeof data18.gateway !== "string"){
const err36 = {instancePath:instancePath+"/result/ip4/gateway",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
var valid10 = _errs47 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data18.routes !== undefined){
let data21 = data18.routes;
const _errs49 = errors;
if(errors === _errs49){
if(Array.isArray(data21)){
var valid11 = true;
const len3 = data21.length;
for(let i3=0; i3<len3; i3++){
let data22 = data21[i3];
const _errs51 = errors;
if(errors === _errs51){
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
let missing6;
if((data22.dst === undefined) && (missing6 = "dst")){
const err37 = {instancePath:instancePath+"/result/ip4/routes/" + i3,schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/items/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
else {
if(data22.dst !== undefined){
let data23 = data22.dst;
const _errs53 = errors;
if(errors === _errs53){
if(typeof data23 === "string"){
if(data23.length < 1){
const err38 = {instancePath:instancePath+"/result/ip4/routes/" + i3+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
else {
const err39 = {instancePath:instancePath+"/result/ip4/routes/" + i3+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
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
if(data22.gw !== undefined){
const _errs55 = errors;
if(typeof data22.gw !== "string"){
const err40 = {instancePath:instancePath+"/result/ip4/routes/" + i3+"/gw",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
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
const err41 = {instancePath:instancePath+"/result/ip4/routes/" + i3,schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
var valid11 = _errs51 === errors;
if(!valid11){
break;
}
}
}
else {
const err42 = {instancePath:instancePath+"/result/ip4/routes",schemaPath:"#/anyOf/0/properties/result/properties/ip4/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
var valid10 = _errs49 === errors;
}
else {
var valid10 = true;
}
}
}
}
}
else {
const err43 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
var valid2 = _errs43 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.ip6 !== undefined){
let data25 = data3.ip6;
const _errs57 = errors;
if(errors === _errs57){
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
let missing7;
if((data25.ip === undefined) && (missing7 = "ip")){
const err44 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/properties/ip6/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
else {
if(data25.ip !== undefined){
let data26 = data25.ip;
const _errs59 = errors;
if(errors === _errs59){
if(typeof data26 === "string"){
if(data26.length < 1){
const err45 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
else {
const err46 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
var valid13 = _errs59 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.gateway !== undefined){
const _errs61 = errors;
if(typeof data25.gateway !== "string"){
const err47 = {instancePath:instancePath+"/result/ip6/gateway",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
var valid13 = _errs61 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.routes !== undefined){
let data28 = data25.routes;
const _errs63 = errors;
if(errors === _errs63){
if(Array.isArray(data28)){
var valid14 = true;
const len4 = data28.length;
for(let i4=0; i4<len4; i4++){
let data29 = data28[i4];
const _errs65 = errors;
if(errors === _errs65){
if(data29 && typeof data29 == "object" && !Array.isArray(data29)){
let missing8;
if((data29.dst === undefined) && (missing8 = "dst")){
const err48 = {instancePath:instancePath+"/result/ip6/routes/" + i4,schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing8},message:"must have required property '"+missing8+"'"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
else {
if(data29.dst !== undefined){
let data30 = data29.dst;
const _errs67 = errors;
if(errors === _errs67){
if(typeof data30 === "string"){
if(data30.length < 1){
const err49 = {instancePath:instancePath+"/result/ip6/routes/" + i4+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
else {
const err50 = {instancePath:instancePath+"/result/ip6/routes/" + i4+"/dst",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
var valid15 = _errs67 === errors;
}
else {
var valid15 = true;
}
if(valid15){
if(data29.gw !== undefined){
const _errs69 = errors;
if(typeof data29.gw !== "string"){
const err51 = {instancePath:instancePath+"/result/ip6/routes/" + i4+"/gw",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
var valid15 = _errs69 === errors;
}
else {
var valid15 = true;
}
}
}
}
else {
const err52 = {instancePath:instancePath+"/result/ip6/routes/" + i4,schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
var valid14 = _errs65 === errors;
if(!valid14){
break;
}
}
}
else {
const err53 = {instancePath:instancePath+"/result/ip6/routes",schemaPath:"#/anyOf/0/properties/result/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
var valid13 = _errs63 === errors;
}
else {
var valid13 = true;
}
}
}
}
}
else {
const err54 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
var valid2 = _errs57 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data3.dns !== undefined){
let data32 = data3.dns;
const _errs71 = errors;
if(errors === _errs71){
if(data32 && typeof data32 == "object" && !Array.isArray(data32)){
if(data32.nameservers !== undefined){
let data33 = data32.nameservers;
const _errs73 = errors;
if(errors === _errs73){
if(Array.isArray(data33)){
var valid17 = true;
const len5 = data33.length;
for(let i5=0; i5<len5; i5++){
const _errs75 = errors;
if(typeof data33[i5] !== "string"){
const err55 = {instancePath:instancePath+"/result/dns/nameservers/" + i5,schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
var valid17 = _errs75 === errors;
if(!valid17){
break;
}
}
}
else {
const err56 = {instancePath:instancePath+"/result/dns/nameservers",schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
var valid16 = _errs73 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data32.domain !== undefined){
const _errs77 = errors;
if(typeof data32.domain !== "string"){
const err57 = {instancePath:instancePath+"/result/dns/domain",schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
var valid16 = _errs77 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data32.search !== undefined){
let data36 = data32.search;
const _errs79 = errors;
if(errors === _errs79){
if(Array.isArray(data36)){
var valid18 = true;
const len6 = data36.length;
for(let i6=0; i6<len6; i6++){
const _errs81 = errors;
if(typeof data36[i6] !== "string"){
const err58 = {instancePath:instancePath+"/result/dns/search/" + i6,schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
var valid18 = _errs81 === errors;
if(!valid18){
break;
}
}
}
else {
const err59 = {instancePath:instancePath+"/result/dns/search",schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
var valid16 = _errs79 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data32.options !== undefined){
let data38 = data32.options;
const _errs83 = errors;
if(errors === _errs83){
if(Array.isArray(data38)){
var valid19 = true;
const len7 = data38.length;
for(let i7=0; i7<len7; i7++){
const _errs85 = errors;
if(typeof data38[i7] !== "string"){
const err60 = {instancePath:instancePath+"/result/dns/options/" + i7,schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
var valid19 = _errs85 === errors;
if(!valid19){
break;
}
}
}
else {
const err61 = {instancePath:instancePath+"/result/dns/options",schemaPath:"#/anyOf/0/properties/result/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
var valid16 = _errs83 === errors;
}
else {
var valid16 = true;
}
}
}
}
}
else {
const err62 = {instancePath:instancePath+"/result/dns",schemaPath:"#/anyOf/0/properties/result/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
var valid2 = _errs71 === errors;
}
else {
var valid2 = true;
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
const err63 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
else {
const err64 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs87 = errors;
if(errors === _errs87){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing9;
if((((data.requestId === undefined) && (missing9 = "requestId")) || ((data.stateDir === undefined) && (missing9 = "stateDir"))) || ((data.delegate === undefined) && (missing9 = "delegate"))){
const err65 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
else {
if(data.requestId !== undefined){
let data40 = data.requestId;
const _errs89 = errors;
if(errors === _errs89){
if(typeof data40 === "string"){
if(data40.length < 1){
const err66 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
else {
const err67 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
var valid20 = _errs89 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data.stateDir !== undefined){
let data41 = data.stateDir;
const _errs91 = errors;
if(errors === _errs91){
if(typeof data41 === "string"){
if(data41.length < 1){
const err68 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
else {
const err69 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
var valid20 = _errs91 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data.stateFolder !== undefined){
let data42 = data.stateFolder;
const _errs93 = errors;
if(errors === _errs93){
if(typeof data42 === "string"){
if(data42.length < 1){
const err70 = {instancePath:instancePath+"/stateFolder",schemaPath:"#/anyOf/1/properties/stateFolder/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
else {
const err71 = {instancePath:instancePath+"/stateFolder",schemaPath:"#/anyOf/1/properties/stateFolder/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
var valid20 = _errs93 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data.delegate !== undefined){
let data43 = data.delegate;
const _errs95 = errors;
if(errors === _errs95){
if(data43 && typeof data43 == "object" && !Array.isArray(data43)){
let missing10;
if((data43.type === undefined) && (missing10 = "type")){
const err72 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/required",keyword:"required",params:{missingProperty: missing10},message:"must have required property '"+missing10+"'"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
else {
if(data43.type !== undefined){
let data44 = data43.type;
const _errs97 = errors;
if(errors === _errs97){
if(typeof data44 === "string"){
if(data44.length < 1){
const err73 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
else {
const err74 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
}
}
}
else {
const err75 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
var valid20 = _errs95 === errors;
}
else {
var valid20 = true;
}
}
}
}
}
}
else {
const err76 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
var _valid0 = _errs87 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err77 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
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
const schema12 = {"type":"object","required":["cniVersion"],"properties":{"cniVersion":{"type":"string","minLength":1},"interfaces":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}}},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}}}};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.cniVersion === undefined) && (missing0 = "cniVersion")){
validate11.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.cniVersion !== undefined){
let data0 = data.cniVersion;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length < 1){
validate11.errors = [{instancePath:instancePath+"/cniVersion",schemaPath:"#/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/cniVersion",schemaPath:"#/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.interfaces !== undefined){
let data1 = data.interfaces;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs5 = errors;
if(errors === _errs5){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if((data2.name === undefined) && (missing1 = "name")){
validate11.errors = [{instancePath:instancePath+"/interfaces/" + i0,schemaPath:"#/properties/interfaces/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
if(data2.name !== undefined){
if(typeof data2.name !== "string"){
validate11.errors = [{instancePath:instancePath+"/interfaces/" + i0+"/name",schemaPath:"#/properties/interfaces/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/interfaces/" + i0,schemaPath:"#/properties/interfaces/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/interfaces",schemaPath:"#/properties/interfaces/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ips !== undefined){
let data4 = data.ips;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
var valid3 = true;
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
let data5 = data4[i1];
const _errs11 = errors;
if(errors === _errs11){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
let missing2;
if((data5.address === undefined) && (missing2 = "address")){
validate11.errors = [{instancePath:instancePath+"/ips/" + i1,schemaPath:"#/properties/ips/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"}];
return false;
}
else {
if(data5.version !== undefined){
let data6 = data5.version;
const _errs13 = errors;
const _errs14 = errors;
let valid5 = false;
const _errs15 = errors;
if(typeof data6 !== "string"){
const err0 = {instancePath:instancePath+"/ips/" + i1+"/version",schemaPath:"#/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if("4" !== data6){
const err1 = {instancePath:instancePath+"/ips/" + i1+"/version",schemaPath:"#/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs15 === errors;
valid5 = valid5 || _valid0;
if(!valid5){
const _errs17 = errors;
if(typeof data6 !== "string"){
const err2 = {instancePath:instancePath+"/ips/" + i1+"/version",schemaPath:"#/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("6" !== data6){
const err3 = {instancePath:instancePath+"/ips/" + i1+"/version",schemaPath:"#/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs17 === errors;
valid5 = valid5 || _valid0;
}
if(!valid5){
const err4 = {instancePath:instancePath+"/ips/" + i1+"/version",schemaPath:"#/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate11.errors = vErrors;
return false;
}
else {
errors = _errs14;
if(vErrors !== null){
if(_errs14){
vErrors.length = _errs14;
}
else {
vErrors = null;
}
}
}
var valid4 = _errs13 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.address !== undefined){
let data7 = data5.address;
const _errs19 = errors;
if(errors === _errs19){
if(typeof data7 === "string"){
if(data7.length < 1){
validate11.errors = [{instancePath:instancePath+"/ips/" + i1+"/address",schemaPath:"#/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ips/" + i1+"/address",schemaPath:"#/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid4 = _errs19 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.gateway !== undefined){
const _errs21 = errors;
if(typeof data5.gateway !== "string"){
validate11.errors = [{instancePath:instancePath+"/ips/" + i1+"/gateway",schemaPath:"#/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data5.interface !== undefined){
let data9 = data5.interface;
const _errs23 = errors;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
validate11.errors = [{instancePath:instancePath+"/ips/" + i1+"/interface",schemaPath:"#/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs23){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
validate11.errors = [{instancePath:instancePath+"/ips/" + i1+"/interface",schemaPath:"#/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
var valid4 = _errs23 === errors;
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
validate11.errors = [{instancePath:instancePath+"/ips/" + i1,schemaPath:"#/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid3 = _errs11 === errors;
if(!valid3){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ips",schemaPath:"#/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.routes !== undefined){
let data10 = data.routes;
const _errs25 = errors;
if(errors === _errs25){
if(Array.isArray(data10)){
var valid6 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
let data11 = data10[i2];
const _errs27 = errors;
if(errors === _errs27){
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
let missing3;
if((data11.dst === undefined) && (missing3 = "dst")){
validate11.errors = [{instancePath:instancePath+"/routes/" + i2,schemaPath:"#/properties/routes/items/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"}];
return false;
}
else {
if(data11.dst !== undefined){
let data12 = data11.dst;
const _errs29 = errors;
if(errors === _errs29){
if(typeof data12 === "string"){
if(data12.length < 1){
validate11.errors = [{instancePath:instancePath+"/routes/" + i2+"/dst",schemaPath:"#/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/routes/" + i2+"/dst",schemaPath:"#/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid7 = _errs29 === errors;
}
else {
var valid7 = true;
}
if(valid7){
if(data11.gw !== undefined){
const _errs31 = errors;
if(typeof data11.gw !== "string"){
validate11.errors = [{instancePath:instancePath+"/routes/" + i2+"/gw",schemaPath:"#/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid7 = _errs31 === errors;
}
else {
var valid7 = true;
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/routes/" + i2,schemaPath:"#/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid6 = _errs27 === errors;
if(!valid6){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/routes",schemaPath:"#/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ip4 !== undefined){
let data14 = data.ip4;
const _errs33 = errors;
if(errors === _errs33){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
let missing4;
if((data14.ip === undefined) && (missing4 = "ip")){
validate11.errors = [{instancePath:instancePath+"/ip4",schemaPath:"#/properties/ip4/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"}];
return false;
}
else {
if(data14.ip !== undefined){
let data15 = data14.ip;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data15 === "string"){
if(data15.length < 1){
validate11.errors = [{instancePath:instancePath+"/ip4/ip",schemaPath:"#/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip4/ip",schemaPath:"#/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid8 = _errs35 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data14.gateway !== undefined){
const _errs37 = errors;
if(typeof data14.gateway !== "string"){
validate11.errors = [{instancePath:instancePath+"/ip4/gateway",schemaPath:"#/properties/ip4/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid8 = _errs37 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data14.routes !== undefined){
let data17 = data14.routes;
const _errs39 = errors;
if(errors === _errs39){
if(Array.isArray(data17)){
var valid9 = true;
const len3 = data17.length;
for(let i3=0; i3<len3; i3++){
let data18 = data17[i3];
const _errs41 = errors;
if(errors === _errs41){
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
let missing5;
if((data18.dst === undefined) && (missing5 = "dst")){
validate11.errors = [{instancePath:instancePath+"/ip4/routes/" + i3,schemaPath:"#/properties/ip4/properties/routes/items/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"}];
return false;
}
else {
if(data18.dst !== undefined){
let data19 = data18.dst;
const _errs43 = errors;
if(errors === _errs43){
if(typeof data19 === "string"){
if(data19.length < 1){
validate11.errors = [{instancePath:instancePath+"/ip4/routes/" + i3+"/dst",schemaPath:"#/properties/ip4/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip4/routes/" + i3+"/dst",schemaPath:"#/properties/ip4/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid10 = _errs43 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data18.gw !== undefined){
const _errs45 = errors;
if(typeof data18.gw !== "string"){
validate11.errors = [{instancePath:instancePath+"/ip4/routes/" + i3+"/gw",schemaPath:"#/properties/ip4/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid10 = _errs45 === errors;
}
else {
var valid10 = true;
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip4/routes/" + i3,schemaPath:"#/properties/ip4/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid9 = _errs41 === errors;
if(!valid9){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip4/routes",schemaPath:"#/properties/ip4/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
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
}
else {
validate11.errors = [{instancePath:instancePath+"/ip4",schemaPath:"#/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ip6 !== undefined){
let data21 = data.ip6;
const _errs47 = errors;
if(errors === _errs47){
if(data21 && typeof data21 == "object" && !Array.isArray(data21)){
let missing6;
if((data21.ip === undefined) && (missing6 = "ip")){
validate11.errors = [{instancePath:instancePath+"/ip6",schemaPath:"#/properties/ip6/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"}];
return false;
}
else {
if(data21.ip !== undefined){
let data22 = data21.ip;
const _errs49 = errors;
if(errors === _errs49){
if(typeof data22 === "string"){
if(data22.length < 1){
validate11.errors = [{instancePath:instancePath+"/ip6/ip",schemaPath:"#/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip6/ip",schemaPath:"#/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid11 = _errs49 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data21.gateway !== undefined){
const _errs51 = errors;
if(typeof data21.gateway !== "string"){
validate11.errors = [{instancePath:instancePath+"/ip6/gateway",schemaPath:"#/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid11 = _errs51 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data21.routes !== undefined){
let data24 = data21.routes;
const _errs53 = errors;
if(errors === _errs53){
if(Array.isArray(data24)){
var valid12 = true;
const len4 = data24.length;
for(let i4=0; i4<len4; i4++){
let data25 = data24[i4];
const _errs55 = errors;
if(errors === _errs55){
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
let missing7;
if((data25.dst === undefined) && (missing7 = "dst")){
validate11.errors = [{instancePath:instancePath+"/ip6/routes/" + i4,schemaPath:"#/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"}];
return false;
}
else {
if(data25.dst !== undefined){
let data26 = data25.dst;
const _errs57 = errors;
if(errors === _errs57){
if(typeof data26 === "string"){
if(data26.length < 1){
validate11.errors = [{instancePath:instancePath+"/ip6/routes/" + i4+"/dst",schemaPath:"#/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip6/routes/" + i4+"/dst",schemaPath:"#/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid13 = _errs57 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.gw !== undefined){
const _errs59 = errors;
if(typeof data25.gw !== "string"){
validate11.errors = [{instancePath:instancePath+"/ip6/routes/" + i4+"/gw",schemaPath:"#/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid13 = _errs59 === errors;
}
else {
var valid13 = true;
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip6/routes/" + i4,schemaPath:"#/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid12 = _errs55 === errors;
if(!valid12){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip6/routes",schemaPath:"#/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid11 = _errs53 === errors;
}
else {
var valid11 = true;
}
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/ip6",schemaPath:"#/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs47 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.dns !== undefined){
let data28 = data.dns;
const _errs61 = errors;
if(errors === _errs61){
if(data28 && typeof data28 == "object" && !Array.isArray(data28)){
if(data28.nameservers !== undefined){
let data29 = data28.nameservers;
const _errs63 = errors;
if(errors === _errs63){
if(Array.isArray(data29)){
var valid15 = true;
const len5 = data29.length;
for(let i5=0; i5<len5; i5++){
const _errs65 = errors;
if(typeof data29[i5] !== "string"){
validate11.errors = [{instancePath:instancePath+"/dns/nameservers/" + i5,schemaPath:"#/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid15 = _errs65 === errors;
if(!valid15){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/dns/nameservers",schemaPath:"#/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid14 = _errs63 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data28.domain !== undefined){
const _errs67 = errors;
if(typeof data28.domain !== "string"){
validate11.errors = [{instancePath:instancePath+"/dns/domain",schemaPath:"#/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid14 = _errs67 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data28.search !== undefined){
let data32 = data28.search;
const _errs69 = errors;
if(errors === _errs69){
if(Array.isArray(data32)){
var valid16 = true;
const len6 = data32.length;
for(let i6=0; i6<len6; i6++){
const _errs71 = errors;
if(typeof data32[i6] !== "string"){
validate11.errors = [{instancePath:instancePath+"/dns/search/" + i6,schemaPath:"#/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid16 = _errs71 === errors;
if(!valid16){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/dns/search",schemaPath:"#/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid14 = _errs69 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data28.options !== undefined){
let data34 = data28.options;
const _errs73 = errors;
if(errors === _errs73){
if(Array.isArray(data34)){
var valid17 = true;
const len7 = data34.length;
for(let i7=0; i7<len7; i7++){
const _errs75 = errors;
if(typeof data34[i7] !== "string"){
validate11.errors = [{instancePath:instancePath+"/dns/options/" + i7,schemaPath:"#/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid17 = _errs75 === errors;
if(!valid17){
break;
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/dns/options",schemaPath:"#/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid14 = _errs73 === errors;
}
else {
var valid14 = true;
}
}
}
}
}
else {
validate11.errors = [{instancePath:instancePath+"/dns",schemaPath:"#/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs61 === errors;
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
else {
validate11.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate11.errors = vErrors;
return errors === 0;
}

const checkDoneReply = validate12;
const schema13 = {"type":"object","required":["requestId","stateDir"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"stateFolder":{"type":"string","minLength":1,"description":"device and inode of stateDir as the daemon sees it, \"DEV:INO\": in a container the path may lead to another folder"},"delegatedTo":{"anyOf":[{"type":"string","minLength":1},{"type":"null"}],"description":"check and del: the plugin of \"ipam.fallback\" that gave the addresses; null where they were ours; absent when unknown"}},"$id":"DoneReply"};

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
if(data.stateFolder !== undefined){
let data2 = data.stateFolder;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(data2.length < 1){
validate12.errors = [{instancePath:instancePath+"/stateFolder",schemaPath:"#/properties/stateFolder/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/stateFolder",schemaPath:"#/properties/stateFolder/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.delegatedTo !== undefined){
let data3 = data.delegatedTo;
const _errs7 = errors;
const _errs8 = errors;
let valid1 = false;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(data3.length < 1){
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
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs11 = errors;
if(data3 !== null){
const err2 = {instancePath:instancePath+"/delegatedTo",schemaPath:"#/properties/delegatedTo/anyOf/1/type",keyword:"type",params:{type: "null"},message:"must be null"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs11 === errors;
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
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
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

const checkErrorReply = validate13;
const schema14 = {"type":"object","required":["code","message","hint","retryable","cniCode","details","requestId","stateDir"],"properties":{"code":{"type":"string","minLength":1},"message":{"type":"string","minLength":1},"hint":{"type":"string"},"retryable":{"type":"boolean"},"cniCode":{"anyOf":[{"type":"integer","minimum":100,"maximum":999},{"enum":[1,2,4,5,6,7,8,11,50,51]}]},"details":{"type":"string"},"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1}},"$id":"ErrorReply"};

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
const _errs10 = errors;
let valid1 = false;
const _errs11 = errors;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err0 = {instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(errors === _errs11){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 999 || isNaN(data4)){
const err1 = {instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 999},message:"must be <= 999"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data4 < 100 || isNaN(data4)){
const err2 = {instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 100},message:"must be >= 100"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
}
var _valid0 = _errs11 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs13 = errors;
if(!((((((((((data4 === 1) || (data4 === 2)) || (data4 === 4)) || (data4 === 5)) || (data4 === 6)) || (data4 === 7)) || (data4 === 8)) || (data4 === 11)) || (data4 === 50)) || (data4 === 51))){
const err3 = {instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/anyOf/1/enum",keyword:"enum",params:{allowedValues: schema14.properties.cniCode.anyOf[1].enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs13 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err4 = {instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate13.errors = vErrors;
return false;
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
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.details !== undefined){
const _errs14 = errors;
if(typeof data.details !== "string"){
validate13.errors = [{instancePath:instancePath+"/details",schemaPath:"#/properties/details/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requestId !== undefined){
let data6 = data.requestId;
const _errs16 = errors;
if(errors === _errs16){
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
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stateDir !== undefined){
let data7 = data.stateDir;
const _errs18 = errors;
if(errors === _errs18){
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
var valid0 = _errs18 === errors;
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
