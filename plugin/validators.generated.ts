// @ts-nocheck
// Made by scripts/generate-validators.ts from shared/api/cni.schema.ts; change that, then: make generate

import type { AddReply, AddResult, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'

/** Checks a value against a schema; `errors` says what was wrong with the last one. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
}

const checkAddReply = validate10;
const schema11 = {"anyOf":[{"type":"object","required":["requestId","stateDir","result"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"result":{"anyOf":[{"type":"object","required":["cniVersion","ips"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"interfaces":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}},"minItems":1},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},{"type":"object","required":["cniVersion","ip4"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}}}},{"type":"object","required":["cniVersion","ip6"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}}}}]}}},{"type":"object","required":["requestId","stateDir","delegate"],"properties":{"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1},"delegate":{"type":"object","required":["type","ownRanges"],"properties":{"type":{"type":"string","minLength":1,"description":"as \"ipam.fallback.type\" says"},"ownRanges":{"type":"array","items":{"type":"object","required":["first","last"],"properties":{"first":{"type":"string","minLength":1},"last":{"type":"string","minLength":1}}},"description":"addresses that ipkeeper gives; the fallback must not"}}}}}],"$id":"AddReply"};

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
if(data2.dns !== undefined){
let data4 = data2.dns;
const _errs13 = errors;
if(errors === _errs13){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(data4.nameservers !== undefined){
let data5 = data4.nameservers;
const _errs15 = errors;
if(errors === _errs15){
if(Array.isArray(data5)){
var valid5 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
const _errs17 = errors;
if(typeof data5[i0] !== "string"){
const err8 = {instancePath:instancePath+"/result/dns/nameservers/" + i0,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
var valid5 = _errs17 === errors;
if(!valid5){
break;
}
}
}
else {
const err9 = {instancePath:instancePath+"/result/dns/nameservers",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var valid4 = _errs15 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data4.domain !== undefined){
const _errs19 = errors;
if(typeof data4.domain !== "string"){
const err10 = {instancePath:instancePath+"/result/dns/domain",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
var valid4 = _errs19 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data4.search !== undefined){
let data8 = data4.search;
const _errs21 = errors;
if(errors === _errs21){
if(Array.isArray(data8)){
var valid6 = true;
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
const _errs23 = errors;
if(typeof data8[i1] !== "string"){
const err11 = {instancePath:instancePath+"/result/dns/search/" + i1,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
var valid6 = _errs23 === errors;
if(!valid6){
break;
}
}
}
else {
const err12 = {instancePath:instancePath+"/result/dns/search",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
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
if(data4.options !== undefined){
let data10 = data4.options;
const _errs25 = errors;
if(errors === _errs25){
if(Array.isArray(data10)){
var valid7 = true;
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
const _errs27 = errors;
if(typeof data10[i2] !== "string"){
const err13 = {instancePath:instancePath+"/result/dns/options/" + i2,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
var valid7 = _errs27 === errors;
if(!valid7){
break;
}
}
}
else {
const err14 = {instancePath:instancePath+"/result/dns/options",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
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
else {
const err15 = {instancePath:instancePath+"/result/dns",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
else {
var valid3 = true;
}
if(valid3){
if(data2.interfaces !== undefined){
let data12 = data2.interfaces;
const _errs29 = errors;
if(errors === _errs29){
if(Array.isArray(data12)){
var valid8 = true;
const len3 = data12.length;
for(let i3=0; i3<len3; i3++){
let data13 = data12[i3];
const _errs31 = errors;
if(errors === _errs31){
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
let missing2;
if((data13.name === undefined) && (missing2 = "name")){
const err16 = {instancePath:instancePath+"/result/interfaces/" + i3,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/interfaces/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
else {
if(data13.name !== undefined){
if(typeof data13.name !== "string"){
const err17 = {instancePath:instancePath+"/result/interfaces/" + i3+"/name",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/interfaces/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
}
else {
const err18 = {instancePath:instancePath+"/result/interfaces/" + i3,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/interfaces/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
var valid8 = _errs31 === errors;
if(!valid8){
break;
}
}
}
else {
const err19 = {instancePath:instancePath+"/result/interfaces",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/interfaces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
var valid3 = _errs29 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.ips !== undefined){
let data15 = data2.ips;
const _errs35 = errors;
if(errors === _errs35){
if(Array.isArray(data15)){
if(data15.length < 1){
const err20 = {instancePath:instancePath+"/result/ips",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
else {
var valid10 = true;
const len4 = data15.length;
for(let i4=0; i4<len4; i4++){
let data16 = data15[i4];
const _errs37 = errors;
if(errors === _errs37){
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
let missing3;
if((data16.address === undefined) && (missing3 = "address")){
const err21 = {instancePath:instancePath+"/result/ips/" + i4,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
if(data16.version !== undefined){
let data17 = data16.version;
const _errs39 = errors;
const _errs40 = errors;
let valid12 = false;
const _errs41 = errors;
if(typeof data17 !== "string"){
const err22 = {instancePath:instancePath+"/result/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if("4" !== data17){
const err23 = {instancePath:instancePath+"/result/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
var _valid2 = _errs41 === errors;
valid12 = valid12 || _valid2;
if(!valid12){
const _errs43 = errors;
if(typeof data17 !== "string"){
const err24 = {instancePath:instancePath+"/result/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if("6" !== data17){
const err25 = {instancePath:instancePath+"/result/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
var _valid2 = _errs43 === errors;
valid12 = valid12 || _valid2;
}
if(!valid12){
const err26 = {instancePath:instancePath+"/result/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
else {
errors = _errs40;
if(vErrors !== null){
if(_errs40){
vErrors.length = _errs40;
}
else {
vErrors = null;
}
}
}
var valid11 = _errs39 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data16.address !== undefined){
let data18 = data16.address;
const _errs45 = errors;
if(errors === _errs45){
if(typeof data18 === "string"){
if(data18.length < 1){
const err27 = {instancePath:instancePath+"/result/ips/" + i4+"/address",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err28 = {instancePath:instancePath+"/result/ips/" + i4+"/address",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var valid11 = _errs45 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data16.gateway !== undefined){
const _errs47 = errors;
if(typeof data16.gateway !== "string"){
const err29 = {instancePath:instancePath+"/result/ips/" + i4+"/gateway",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
var valid11 = _errs47 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data16.interface !== undefined){
let data20 = data16.interface;
const _errs49 = errors;
if(!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))){
const err30 = {instancePath:instancePath+"/result/ips/" + i4+"/interface",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(errors === _errs49){
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 < 0 || isNaN(data20)){
const err31 = {instancePath:instancePath+"/result/ips/" + i4+"/interface",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
var valid11 = _errs49 === errors;
}
else {
var valid11 = true;
}
}
}
}
}
}
else {
const err32 = {instancePath:instancePath+"/result/ips/" + i4,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
var valid10 = _errs37 === errors;
if(!valid10){
break;
}
}
}
}
else {
const err33 = {instancePath:instancePath+"/result/ips",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
var valid3 = _errs35 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data2.routes !== undefined){
let data21 = data2.routes;
const _errs51 = errors;
if(errors === _errs51){
if(Array.isArray(data21)){
var valid13 = true;
const len5 = data21.length;
for(let i5=0; i5<len5; i5++){
let data22 = data21[i5];
const _errs53 = errors;
if(errors === _errs53){
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
let missing4;
if((data22.dst === undefined) && (missing4 = "dst")){
const err34 = {instancePath:instancePath+"/result/routes/" + i5,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/items/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
else {
if(data22.dst !== undefined){
let data23 = data22.dst;
const _errs55 = errors;
if(errors === _errs55){
if(typeof data23 === "string"){
if(data23.length < 1){
const err35 = {instancePath:instancePath+"/result/routes/" + i5+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err36 = {instancePath:instancePath+"/result/routes/" + i5+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
var valid14 = _errs55 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data22.gw !== undefined){
const _errs57 = errors;
if(typeof data22.gw !== "string"){
const err37 = {instancePath:instancePath+"/result/routes/" + i5+"/gw",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
var valid14 = _errs57 === errors;
}
else {
var valid14 = true;
}
}
}
}
else {
const err38 = {instancePath:instancePath+"/result/routes/" + i5,schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
var valid13 = _errs53 === errors;
if(!valid13){
break;
}
}
}
else {
const err39 = {instancePath:instancePath+"/result/routes",schemaPath:"#/anyOf/0/properties/result/anyOf/0/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
var valid3 = _errs51 === errors;
}
else {
var valid3 = true;
}
}
}
}
}
}
}
else {
const err40 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
var _valid1 = _errs9 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs59 = errors;
if(errors === _errs59){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing5;
if(((data2.cniVersion === undefined) && (missing5 = "cniVersion")) || ((data2.ip4 === undefined) && (missing5 = "ip4"))){
const err41 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/1/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data25 = data2.cniVersion;
const _errs61 = errors;
if(errors === _errs61){
if(typeof data25 === "string"){
if(data25.length < 1){
const err42 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err43 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
var valid15 = _errs61 === errors;
}
else {
var valid15 = true;
}
if(valid15){
if(data2.dns !== undefined){
let data26 = data2.dns;
const _errs63 = errors;
if(errors === _errs63){
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
if(data26.nameservers !== undefined){
let data27 = data26.nameservers;
const _errs65 = errors;
if(errors === _errs65){
if(Array.isArray(data27)){
var valid17 = true;
const len6 = data27.length;
for(let i6=0; i6<len6; i6++){
const _errs67 = errors;
if(typeof data27[i6] !== "string"){
const err44 = {instancePath:instancePath+"/result/dns/nameservers/" + i6,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
var valid17 = _errs67 === errors;
if(!valid17){
break;
}
}
}
else {
const err45 = {instancePath:instancePath+"/result/dns/nameservers",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
var valid16 = _errs65 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data26.domain !== undefined){
const _errs69 = errors;
if(typeof data26.domain !== "string"){
const err46 = {instancePath:instancePath+"/result/dns/domain",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
var valid16 = _errs69 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data26.search !== undefined){
let data30 = data26.search;
const _errs71 = errors;
if(errors === _errs71){
if(Array.isArray(data30)){
var valid18 = true;
const len7 = data30.length;
for(let i7=0; i7<len7; i7++){
const _errs73 = errors;
if(typeof data30[i7] !== "string"){
const err47 = {instancePath:instancePath+"/result/dns/search/" + i7,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
var valid18 = _errs73 === errors;
if(!valid18){
break;
}
}
}
else {
const err48 = {instancePath:instancePath+"/result/dns/search",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
var valid16 = _errs71 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data26.options !== undefined){
let data32 = data26.options;
const _errs75 = errors;
if(errors === _errs75){
if(Array.isArray(data32)){
var valid19 = true;
const len8 = data32.length;
for(let i8=0; i8<len8; i8++){
const _errs77 = errors;
if(typeof data32[i8] !== "string"){
const err49 = {instancePath:instancePath+"/result/dns/options/" + i8,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
var valid19 = _errs77 === errors;
if(!valid19){
break;
}
}
}
else {
const err50 = {instancePath:instancePath+"/result/dns/options",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
var valid16 = _errs75 === errors;
}
else {
var valid16 = true;
}
}
}
}
}
else {
const err51 = {instancePath:instancePath+"/result/dns",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
var valid15 = _errs63 === errors;
}
else {
var valid15 = true;
}
if(valid15){
if(data2.ip4 !== undefined){
let data34 = data2.ip4;
const _errs79 = errors;
if(errors === _errs79){
if(data34 && typeof data34 == "object" && !Array.isArray(data34)){
let missing6;
if((data34.ip === undefined) && (missing6 = "ip")){
const err52 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
else {
if(data34.ip !== undefined){
let data35 = data34.ip;
const _errs81 = errors;
if(errors === _errs81){
if(typeof data35 === "string"){
if(data35.length < 1){
const err53 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
else {
const err54 = {instancePath:instancePath+"/result/ip4/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
var valid20 = _errs81 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data34.gateway !== undefined){
const _errs83 = errors;
if(typeof data34.gateway !== "string"){
const err55 = {instancePath:instancePath+"/result/ip4/gateway",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
var valid20 = _errs83 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data34.routes !== undefined){
let data37 = data34.routes;
const _errs85 = errors;
if(errors === _errs85){
if(Array.isArray(data37)){
var valid21 = true;
const len9 = data37.length;
for(let i9=0; i9<len9; i9++){
let data38 = data37[i9];
const _errs87 = errors;
if(errors === _errs87){
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
let missing7;
if((data38.dst === undefined) && (missing7 = "dst")){
const err56 = {instancePath:instancePath+"/result/ip4/routes/" + i9,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/items/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
else {
if(data38.dst !== undefined){
let data39 = data38.dst;
const _errs89 = errors;
if(errors === _errs89){
if(typeof data39 === "string"){
if(data39.length < 1){
const err57 = {instancePath:instancePath+"/result/ip4/routes/" + i9+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
else {
const err58 = {instancePath:instancePath+"/result/ip4/routes/" + i9+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
var valid22 = _errs89 === errors;
}
else {
var valid22 = true;
}
if(valid22){
if(data38.gw !== undefined){
const _errs91 = errors;
if(typeof data38.gw !== "string"){
const err59 = {instancePath:instancePath+"/result/ip4/routes/" + i9+"/gw",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
var valid22 = _errs91 === errors;
}
else {
var valid22 = true;
}
}
}
}
else {
const err60 = {instancePath:instancePath+"/result/ip4/routes/" + i9,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
var valid21 = _errs87 === errors;
if(!valid21){
break;
}
}
}
else {
const err61 = {instancePath:instancePath+"/result/ip4/routes",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
var valid20 = _errs85 === errors;
}
else {
var valid20 = true;
}
}
}
}
}
else {
const err62 = {instancePath:instancePath+"/result/ip4",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
var valid15 = _errs79 === errors;
}
else {
var valid15 = true;
}
if(valid15){
if(data2.ip6 !== undefined){
let data41 = data2.ip6;
const _errs93 = errors;
if(errors === _errs93){
if(data41 && typeof data41 == "object" && !Array.isArray(data41)){
let missing8;
if((data41.ip === undefined) && (missing8 = "ip")){
const err63 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/required",keyword:"required",params:{missingProperty: missing8},message:"must have required property '"+missing8+"'"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
else {
if(data41.ip !== undefined){
let data42 = data41.ip;
const _errs95 = errors;
if(errors === _errs95){
if(typeof data42 === "string"){
if(data42.length < 1){
const err64 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
else {
const err65 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
var valid23 = _errs95 === errors;
}
else {
var valid23 = true;
}
if(valid23){
if(data41.gateway !== undefined){
const _errs97 = errors;
if(typeof data41.gateway !== "string"){
const err66 = {instancePath:instancePath+"/result/ip6/gateway",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
var valid23 = _errs97 === errors;
}
else {
var valid23 = true;
}
if(valid23){
if(data41.routes !== undefined){
let data44 = data41.routes;
const _errs99 = errors;
if(errors === _errs99){
if(Array.isArray(data44)){
var valid24 = true;
const len10 = data44.length;
for(let i10=0; i10<len10; i10++){
let data45 = data44[i10];
const _errs101 = errors;
if(errors === _errs101){
if(data45 && typeof data45 == "object" && !Array.isArray(data45)){
let missing9;
if((data45.dst === undefined) && (missing9 = "dst")){
const err67 = {instancePath:instancePath+"/result/ip6/routes/" + i10,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
else {
if(data45.dst !== undefined){
let data46 = data45.dst;
const _errs103 = errors;
if(errors === _errs103){
if(typeof data46 === "string"){
if(data46.length < 1){
const err68 = {instancePath:instancePath+"/result/ip6/routes/" + i10+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err69 = {instancePath:instancePath+"/result/ip6/routes/" + i10+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
var valid25 = _errs103 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data45.gw !== undefined){
const _errs105 = errors;
if(typeof data45.gw !== "string"){
const err70 = {instancePath:instancePath+"/result/ip6/routes/" + i10+"/gw",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
var valid25 = _errs105 === errors;
}
else {
var valid25 = true;
}
}
}
}
else {
const err71 = {instancePath:instancePath+"/result/ip6/routes/" + i10,schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
var valid24 = _errs101 === errors;
if(!valid24){
break;
}
}
}
else {
const err72 = {instancePath:instancePath+"/result/ip6/routes",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
var valid23 = _errs99 === errors;
}
else {
var valid23 = true;
}
}
}
}
}
else {
const err73 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/1/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
var valid15 = _errs93 === errors;
}
else {
var valid15 = true;
}
}
}
}
}
}
else {
const err74 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
var _valid1 = _errs59 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs107 = errors;
if(errors === _errs107){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing10;
if(((data2.cniVersion === undefined) && (missing10 = "cniVersion")) || ((data2.ip6 === undefined) && (missing10 = "ip6"))){
const err75 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/2/required",keyword:"required",params:{missingProperty: missing10},message:"must have required property '"+missing10+"'"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
else {
if(data2.cniVersion !== undefined){
let data48 = data2.cniVersion;
const _errs109 = errors;
if(errors === _errs109){
if(typeof data48 === "string"){
if(data48.length < 1){
const err76 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
else {
const err77 = {instancePath:instancePath+"/result/cniVersion",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
var valid26 = _errs109 === errors;
}
else {
var valid26 = true;
}
if(valid26){
if(data2.dns !== undefined){
let data49 = data2.dns;
const _errs111 = errors;
if(errors === _errs111){
if(data49 && typeof data49 == "object" && !Array.isArray(data49)){
if(data49.nameservers !== undefined){
let data50 = data49.nameservers;
const _errs113 = errors;
if(errors === _errs113){
if(Array.isArray(data50)){
var valid28 = true;
const len11 = data50.length;
for(let i11=0; i11<len11; i11++){
const _errs115 = errors;
if(typeof data50[i11] !== "string"){
const err78 = {instancePath:instancePath+"/result/dns/nameservers/" + i11,schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
var valid28 = _errs115 === errors;
if(!valid28){
break;
}
}
}
else {
const err79 = {instancePath:instancePath+"/result/dns/nameservers",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
var valid27 = _errs113 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data49.domain !== undefined){
const _errs117 = errors;
if(typeof data49.domain !== "string"){
const err80 = {instancePath:instancePath+"/result/dns/domain",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
var valid27 = _errs117 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data49.search !== undefined){
let data53 = data49.search;
const _errs119 = errors;
if(errors === _errs119){
if(Array.isArray(data53)){
var valid29 = true;
const len12 = data53.length;
for(let i12=0; i12<len12; i12++){
const _errs121 = errors;
if(typeof data53[i12] !== "string"){
const err81 = {instancePath:instancePath+"/result/dns/search/" + i12,schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
var valid29 = _errs121 === errors;
if(!valid29){
break;
}
}
}
else {
const err82 = {instancePath:instancePath+"/result/dns/search",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
var valid27 = _errs119 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data49.options !== undefined){
let data55 = data49.options;
const _errs123 = errors;
if(errors === _errs123){
if(Array.isArray(data55)){
var valid30 = true;
const len13 = data55.length;
for(let i13=0; i13<len13; i13++){
const _errs125 = errors;
if(typeof data55[i13] !== "string"){
const err83 = {instancePath:instancePath+"/result/dns/options/" + i13,schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
var valid30 = _errs125 === errors;
if(!valid30){
break;
}
}
}
else {
const err84 = {instancePath:instancePath+"/result/dns/options",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
var valid27 = _errs123 === errors;
}
else {
var valid27 = true;
}
}
}
}
}
else {
const err85 = {instancePath:instancePath+"/result/dns",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
var valid26 = _errs111 === errors;
}
else {
var valid26 = true;
}
if(valid26){
if(data2.ip6 !== undefined){
let data57 = data2.ip6;
const _errs127 = errors;
if(errors === _errs127){
if(data57 && typeof data57 == "object" && !Array.isArray(data57)){
let missing11;
if((data57.ip === undefined) && (missing11 = "ip")){
const err86 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/required",keyword:"required",params:{missingProperty: missing11},message:"must have required property '"+missing11+"'"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
else {
if(data57.ip !== undefined){
let data58 = data57.ip;
const _errs129 = errors;
if(errors === _errs129){
if(typeof data58 === "string"){
if(data58.length < 1){
const err87 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
else {
const err88 = {instancePath:instancePath+"/result/ip6/ip",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
var valid31 = _errs129 === errors;
}
else {
var valid31 = true;
}
if(valid31){
if(data57.gateway !== undefined){
const _errs131 = errors;
if(typeof data57.gateway !== "string"){
const err89 = {instancePath:instancePath+"/result/ip6/gateway",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
var valid31 = _errs131 === errors;
}
else {
var valid31 = true;
}
if(valid31){
if(data57.routes !== undefined){
let data60 = data57.routes;
const _errs133 = errors;
if(errors === _errs133){
if(Array.isArray(data60)){
var valid32 = true;
const len14 = data60.length;
for(let i14=0; i14<len14; i14++){
let data61 = data60[i14];
const _errs135 = errors;
if(errors === _errs135){
if(data61 && typeof data61 == "object" && !Array.isArray(data61)){
let missing12;
if((data61.dst === undefined) && (missing12 = "dst")){
const err90 = {instancePath:instancePath+"/result/ip6/routes/" + i14,schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing12},message:"must have required property '"+missing12+"'"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
else {
if(data61.dst !== undefined){
let data62 = data61.dst;
const _errs137 = errors;
if(errors === _errs137){
if(typeof data62 === "string"){
if(data62.length < 1){
const err91 = {instancePath:instancePath+"/result/ip6/routes/" + i14+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
else {
const err92 = {instancePath:instancePath+"/result/ip6/routes/" + i14+"/dst",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
var valid33 = _errs137 === errors;
}
else {
var valid33 = true;
}
if(valid33){
if(data61.gw !== undefined){
const _errs139 = errors;
if(typeof data61.gw !== "string"){
const err93 = {instancePath:instancePath+"/result/ip6/routes/" + i14+"/gw",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
var valid33 = _errs139 === errors;
}
else {
var valid33 = true;
}
}
}
}
else {
const err94 = {instancePath:instancePath+"/result/ip6/routes/" + i14,schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
var valid32 = _errs135 === errors;
if(!valid32){
break;
}
}
}
else {
const err95 = {instancePath:instancePath+"/result/ip6/routes",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
var valid31 = _errs133 === errors;
}
else {
var valid31 = true;
}
}
}
}
}
else {
const err96 = {instancePath:instancePath+"/result/ip6",schemaPath:"#/anyOf/0/properties/result/anyOf/2/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
var valid26 = _errs127 === errors;
}
else {
var valid26 = true;
}
}
}
}
}
else {
const err97 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
var _valid1 = _errs107 === errors;
valid2 = valid2 || _valid1;
}
}
if(!valid2){
const err98 = {instancePath:instancePath+"/result",schemaPath:"#/anyOf/0/properties/result/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
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
const err99 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs141 = errors;
if(errors === _errs141){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing13;
if((((data.requestId === undefined) && (missing13 = "requestId")) || ((data.stateDir === undefined) && (missing13 = "stateDir"))) || ((data.delegate === undefined) && (missing13 = "delegate"))){
const err100 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: missing13},message:"must have required property '"+missing13+"'"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
else {
if(data.requestId !== undefined){
let data64 = data.requestId;
const _errs143 = errors;
if(errors === _errs143){
if(typeof data64 === "string"){
if(data64.length < 1){
const err101 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
else {
const err102 = {instancePath:instancePath+"/requestId",schemaPath:"#/anyOf/1/properties/requestId/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
var valid34 = _errs143 === errors;
}
else {
var valid34 = true;
}
if(valid34){
if(data.stateDir !== undefined){
let data65 = data.stateDir;
const _errs145 = errors;
if(errors === _errs145){
if(typeof data65 === "string"){
if(data65.length < 1){
const err103 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
else {
const err104 = {instancePath:instancePath+"/stateDir",schemaPath:"#/anyOf/1/properties/stateDir/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
var valid34 = _errs145 === errors;
}
else {
var valid34 = true;
}
if(valid34){
if(data.delegate !== undefined){
let data66 = data.delegate;
const _errs147 = errors;
if(errors === _errs147){
if(data66 && typeof data66 == "object" && !Array.isArray(data66)){
let missing14;
if(((data66.type === undefined) && (missing14 = "type")) || ((data66.ownRanges === undefined) && (missing14 = "ownRanges"))){
const err105 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/required",keyword:"required",params:{missingProperty: missing14},message:"must have required property '"+missing14+"'"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
else {
if(data66.type !== undefined){
let data67 = data66.type;
const _errs149 = errors;
if(errors === _errs149){
if(typeof data67 === "string"){
if(data67.length < 1){
const err106 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
else {
const err107 = {instancePath:instancePath+"/delegate/type",schemaPath:"#/anyOf/1/properties/delegate/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
var valid35 = _errs149 === errors;
}
else {
var valid35 = true;
}
if(valid35){
if(data66.ownRanges !== undefined){
let data68 = data66.ownRanges;
const _errs151 = errors;
if(errors === _errs151){
if(Array.isArray(data68)){
var valid36 = true;
const len15 = data68.length;
for(let i15=0; i15<len15; i15++){
let data69 = data68[i15];
const _errs153 = errors;
if(errors === _errs153){
if(data69 && typeof data69 == "object" && !Array.isArray(data69)){
let missing15;
if(((data69.first === undefined) && (missing15 = "first")) || ((data69.last === undefined) && (missing15 = "last"))){
const err108 = {instancePath:instancePath+"/delegate/ownRanges/" + i15,schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/required",keyword:"required",params:{missingProperty: missing15},message:"must have required property '"+missing15+"'"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
else {
if(data69.first !== undefined){
let data70 = data69.first;
const _errs155 = errors;
if(errors === _errs155){
if(typeof data70 === "string"){
if(data70.length < 1){
const err109 = {instancePath:instancePath+"/delegate/ownRanges/" + i15+"/first",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/first/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
else {
const err110 = {instancePath:instancePath+"/delegate/ownRanges/" + i15+"/first",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/first/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
var valid37 = _errs155 === errors;
}
else {
var valid37 = true;
}
if(valid37){
if(data69.last !== undefined){
let data71 = data69.last;
const _errs157 = errors;
if(errors === _errs157){
if(typeof data71 === "string"){
if(data71.length < 1){
const err111 = {instancePath:instancePath+"/delegate/ownRanges/" + i15+"/last",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/last/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
else {
const err112 = {instancePath:instancePath+"/delegate/ownRanges/" + i15+"/last",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/properties/last/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
var valid37 = _errs157 === errors;
}
else {
var valid37 = true;
}
}
}
}
else {
const err113 = {instancePath:instancePath+"/delegate/ownRanges/" + i15,schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
var valid36 = _errs153 === errors;
if(!valid36){
break;
}
}
}
else {
const err114 = {instancePath:instancePath+"/delegate/ownRanges",schemaPath:"#/anyOf/1/properties/delegate/properties/ownRanges/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
var valid35 = _errs151 === errors;
}
else {
var valid35 = true;
}
}
}
}
else {
const err115 = {instancePath:instancePath+"/delegate",schemaPath:"#/anyOf/1/properties/delegate/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
var valid34 = _errs147 === errors;
}
else {
var valid34 = true;
}
}
}
}
}
else {
const err116 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
}
var _valid0 = _errs141 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err117 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
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
const schema12 = {"anyOf":[{"type":"object","required":["cniVersion","ips"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"interfaces":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}},"ips":{"type":"array","items":{"type":"object","required":["address"],"properties":{"version":{"anyOf":[{"type":"string","const":"4"},{"type":"string","const":"6"}]},"address":{"type":"string","minLength":1},"gateway":{"type":"string"},"interface":{"type":"integer","minimum":0}}},"minItems":1},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},{"type":"object","required":["cniVersion","ip4"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"ip4":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}}}},{"type":"object","required":["cniVersion","ip6"],"properties":{"cniVersion":{"type":"string","minLength":1},"dns":{"type":"object","properties":{"nameservers":{"type":"array","items":{"type":"string"}},"domain":{"type":"string"},"search":{"type":"array","items":{"type":"string"}},"options":{"type":"array","items":{"type":"string"}}}},"ip6":{"type":"object","required":["ip"],"properties":{"ip":{"type":"string","minLength":1},"gateway":{"type":"string"},"routes":{"type":"array","items":{"type":"object","required":["dst"],"properties":{"dst":{"type":"string","minLength":1},"gw":{"type":"string"}}}}}}}}]};

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
if(data.dns !== undefined){
let data1 = data.dns;
const _errs5 = errors;
if(errors === _errs5){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.nameservers !== undefined){
let data2 = data1.nameservers;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data2)){
var valid3 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
const _errs9 = errors;
if(typeof data2[i0] !== "string"){
const err3 = {instancePath:instancePath+"/dns/nameservers/" + i0,schemaPath:"#/anyOf/0/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var valid3 = _errs9 === errors;
if(!valid3){
break;
}
}
}
else {
const err4 = {instancePath:instancePath+"/dns/nameservers",schemaPath:"#/anyOf/0/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var valid2 = _errs7 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data1.domain !== undefined){
const _errs11 = errors;
if(typeof data1.domain !== "string"){
const err5 = {instancePath:instancePath+"/dns/domain",schemaPath:"#/anyOf/0/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data1.search !== undefined){
let data5 = data1.search;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data5)){
var valid4 = true;
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
const _errs15 = errors;
if(typeof data5[i1] !== "string"){
const err6 = {instancePath:instancePath+"/dns/search/" + i1,schemaPath:"#/anyOf/0/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
var valid4 = _errs15 === errors;
if(!valid4){
break;
}
}
}
else {
const err7 = {instancePath:instancePath+"/dns/search",schemaPath:"#/anyOf/0/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
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
if(data1.options !== undefined){
let data7 = data1.options;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data7)){
var valid5 = true;
const len2 = data7.length;
for(let i2=0; i2<len2; i2++){
const _errs19 = errors;
if(typeof data7[i2] !== "string"){
const err8 = {instancePath:instancePath+"/dns/options/" + i2,schemaPath:"#/anyOf/0/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
var valid5 = _errs19 === errors;
if(!valid5){
break;
}
}
}
else {
const err9 = {instancePath:instancePath+"/dns/options",schemaPath:"#/anyOf/0/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
var valid2 = _errs17 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
else {
const err10 = {instancePath:instancePath+"/dns",schemaPath:"#/anyOf/0/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
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
if(data.interfaces !== undefined){
let data9 = data.interfaces;
const _errs21 = errors;
if(errors === _errs21){
if(Array.isArray(data9)){
var valid6 = true;
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
let data10 = data9[i3];
const _errs23 = errors;
if(errors === _errs23){
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
let missing1;
if((data10.name === undefined) && (missing1 = "name")){
const err11 = {instancePath:instancePath+"/interfaces/" + i3,schemaPath:"#/anyOf/0/properties/interfaces/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
else {
if(data10.name !== undefined){
if(typeof data10.name !== "string"){
const err12 = {instancePath:instancePath+"/interfaces/" + i3+"/name",schemaPath:"#/anyOf/0/properties/interfaces/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
else {
const err13 = {instancePath:instancePath+"/interfaces/" + i3,schemaPath:"#/anyOf/0/properties/interfaces/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
var valid6 = _errs23 === errors;
if(!valid6){
break;
}
}
}
else {
const err14 = {instancePath:instancePath+"/interfaces",schemaPath:"#/anyOf/0/properties/interfaces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
var valid1 = _errs21 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.ips !== undefined){
let data12 = data.ips;
const _errs27 = errors;
if(errors === _errs27){
if(Array.isArray(data12)){
if(data12.length < 1){
const err15 = {instancePath:instancePath+"/ips",schemaPath:"#/anyOf/0/properties/ips/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
else {
var valid8 = true;
const len4 = data12.length;
for(let i4=0; i4<len4; i4++){
let data13 = data12[i4];
const _errs29 = errors;
if(errors === _errs29){
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
let missing2;
if((data13.address === undefined) && (missing2 = "address")){
const err16 = {instancePath:instancePath+"/ips/" + i4,schemaPath:"#/anyOf/0/properties/ips/items/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
else {
if(data13.version !== undefined){
let data14 = data13.version;
const _errs31 = errors;
const _errs32 = errors;
let valid10 = false;
const _errs33 = errors;
if(typeof data14 !== "string"){
const err17 = {instancePath:instancePath+"/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if("4" !== data14){
const err18 = {instancePath:instancePath+"/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/0/const",keyword:"const",params:{allowedValue: "4"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
var _valid1 = _errs33 === errors;
valid10 = valid10 || _valid1;
if(!valid10){
const _errs35 = errors;
if(typeof data14 !== "string"){
const err19 = {instancePath:instancePath+"/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if("6" !== data14){
const err20 = {instancePath:instancePath+"/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf/1/const",keyword:"const",params:{allowedValue: "6"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
var _valid1 = _errs35 === errors;
valid10 = valid10 || _valid1;
}
if(!valid10){
const err21 = {instancePath:instancePath+"/ips/" + i4+"/version",schemaPath:"#/anyOf/0/properties/ips/items/properties/version/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
errors = _errs32;
if(vErrors !== null){
if(_errs32){
vErrors.length = _errs32;
}
else {
vErrors = null;
}
}
}
var valid9 = _errs31 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data13.address !== undefined){
let data15 = data13.address;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data15 === "string"){
if(data15.length < 1){
const err22 = {instancePath:instancePath+"/ips/" + i4+"/address",schemaPath:"#/anyOf/0/properties/ips/items/properties/address/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err23 = {instancePath:instancePath+"/ips/" + i4+"/address",schemaPath:"#/anyOf/0/properties/ips/items/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
var valid9 = _errs37 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data13.gateway !== undefined){
const _errs39 = errors;
if(typeof data13.gateway !== "string"){
const err24 = {instancePath:instancePath+"/ips/" + i4+"/gateway",schemaPath:"#/anyOf/0/properties/ips/items/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var valid9 = _errs39 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data13.interface !== undefined){
let data17 = data13.interface;
const _errs41 = errors;
if(!(((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17))) && (isFinite(data17)))){
const err25 = {instancePath:instancePath+"/ips/" + i4+"/interface",schemaPath:"#/anyOf/0/properties/ips/items/properties/interface/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(errors === _errs41){
if((typeof data17 == "number") && (isFinite(data17))){
if(data17 < 0 || isNaN(data17)){
const err26 = {instancePath:instancePath+"/ips/" + i4+"/interface",schemaPath:"#/anyOf/0/properties/ips/items/properties/interface/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
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
}
}
else {
const err27 = {instancePath:instancePath+"/ips/" + i4,schemaPath:"#/anyOf/0/properties/ips/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
var valid8 = _errs29 === errors;
if(!valid8){
break;
}
}
}
}
else {
const err28 = {instancePath:instancePath+"/ips",schemaPath:"#/anyOf/0/properties/ips/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var valid1 = _errs27 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.routes !== undefined){
let data18 = data.routes;
const _errs43 = errors;
if(errors === _errs43){
if(Array.isArray(data18)){
var valid11 = true;
const len5 = data18.length;
for(let i5=0; i5<len5; i5++){
let data19 = data18[i5];
const _errs45 = errors;
if(errors === _errs45){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
let missing3;
if((data19.dst === undefined) && (missing3 = "dst")){
const err29 = {instancePath:instancePath+"/routes/" + i5,schemaPath:"#/anyOf/0/properties/routes/items/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
else {
if(data19.dst !== undefined){
let data20 = data19.dst;
const _errs47 = errors;
if(errors === _errs47){
if(typeof data20 === "string"){
if(data20.length < 1){
const err30 = {instancePath:instancePath+"/routes/" + i5+"/dst",schemaPath:"#/anyOf/0/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err31 = {instancePath:instancePath+"/routes/" + i5+"/dst",schemaPath:"#/anyOf/0/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
var valid12 = _errs47 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data19.gw !== undefined){
const _errs49 = errors;
if(typeof data19.gw !== "string"){
const err32 = {instancePath:instancePath+"/routes/" + i5+"/gw",schemaPath:"#/anyOf/0/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
var valid12 = _errs49 === errors;
}
else {
var valid12 = true;
}
}
}
}
else {
const err33 = {instancePath:instancePath+"/routes/" + i5,schemaPath:"#/anyOf/0/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
var valid11 = _errs45 === errors;
if(!valid11){
break;
}
}
}
else {
const err34 = {instancePath:instancePath+"/routes",schemaPath:"#/anyOf/0/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
var valid1 = _errs43 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
}
else {
const err35 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs51 = errors;
if(errors === _errs51){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing4;
if(((data.cniVersion === undefined) && (missing4 = "cniVersion")) || ((data.ip4 === undefined) && (missing4 = "ip4"))){
const err36 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
else {
if(data.cniVersion !== undefined){
let data22 = data.cniVersion;
const _errs53 = errors;
if(errors === _errs53){
if(typeof data22 === "string"){
if(data22.length < 1){
const err37 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/1/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
else {
const err38 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/1/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
var valid13 = _errs53 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data.dns !== undefined){
let data23 = data.dns;
const _errs55 = errors;
if(errors === _errs55){
if(data23 && typeof data23 == "object" && !Array.isArray(data23)){
if(data23.nameservers !== undefined){
let data24 = data23.nameservers;
const _errs57 = errors;
if(errors === _errs57){
if(Array.isArray(data24)){
var valid15 = true;
const len6 = data24.length;
for(let i6=0; i6<len6; i6++){
const _errs59 = errors;
if(typeof data24[i6] !== "string"){
const err39 = {instancePath:instancePath+"/dns/nameservers/" + i6,schemaPath:"#/anyOf/1/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
var valid15 = _errs59 === errors;
if(!valid15){
break;
}
}
}
else {
const err40 = {instancePath:instancePath+"/dns/nameservers",schemaPath:"#/anyOf/1/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
var valid14 = _errs57 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data23.domain !== undefined){
const _errs61 = errors;
if(typeof data23.domain !== "string"){
const err41 = {instancePath:instancePath+"/dns/domain",schemaPath:"#/anyOf/1/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
var valid14 = _errs61 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data23.search !== undefined){
let data27 = data23.search;
const _errs63 = errors;
if(errors === _errs63){
if(Array.isArray(data27)){
var valid16 = true;
const len7 = data27.length;
for(let i7=0; i7<len7; i7++){
const _errs65 = errors;
if(typeof data27[i7] !== "string"){
const err42 = {instancePath:instancePath+"/dns/search/" + i7,schemaPath:"#/anyOf/1/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
var valid16 = _errs65 === errors;
if(!valid16){
break;
}
}
}
else {
const err43 = {instancePath:instancePath+"/dns/search",schemaPath:"#/anyOf/1/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
var valid14 = _errs63 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data23.options !== undefined){
let data29 = data23.options;
const _errs67 = errors;
if(errors === _errs67){
if(Array.isArray(data29)){
var valid17 = true;
const len8 = data29.length;
for(let i8=0; i8<len8; i8++){
const _errs69 = errors;
if(typeof data29[i8] !== "string"){
const err44 = {instancePath:instancePath+"/dns/options/" + i8,schemaPath:"#/anyOf/1/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
var valid17 = _errs69 === errors;
if(!valid17){
break;
}
}
}
else {
const err45 = {instancePath:instancePath+"/dns/options",schemaPath:"#/anyOf/1/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
var valid14 = _errs67 === errors;
}
else {
var valid14 = true;
}
}
}
}
}
else {
const err46 = {instancePath:instancePath+"/dns",schemaPath:"#/anyOf/1/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
var valid13 = _errs55 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data.ip4 !== undefined){
let data31 = data.ip4;
const _errs71 = errors;
if(errors === _errs71){
if(data31 && typeof data31 == "object" && !Array.isArray(data31)){
let missing5;
if((data31.ip === undefined) && (missing5 = "ip")){
const err47 = {instancePath:instancePath+"/ip4",schemaPath:"#/anyOf/1/properties/ip4/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
else {
if(data31.ip !== undefined){
let data32 = data31.ip;
const _errs73 = errors;
if(errors === _errs73){
if(typeof data32 === "string"){
if(data32.length < 1){
const err48 = {instancePath:instancePath+"/ip4/ip",schemaPath:"#/anyOf/1/properties/ip4/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
else {
const err49 = {instancePath:instancePath+"/ip4/ip",schemaPath:"#/anyOf/1/properties/ip4/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
var valid18 = _errs73 === errors;
}
else {
var valid18 = true;
}
if(valid18){
if(data31.gateway !== undefined){
const _errs75 = errors;
if(typeof data31.gateway !== "string"){
const err50 = {instancePath:instancePath+"/ip4/gateway",schemaPath:"#/anyOf/1/properties/ip4/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
var valid18 = _errs75 === errors;
}
else {
var valid18 = true;
}
if(valid18){
if(data31.routes !== undefined){
let data34 = data31.routes;
const _errs77 = errors;
if(errors === _errs77){
if(Array.isArray(data34)){
var valid19 = true;
const len9 = data34.length;
for(let i9=0; i9<len9; i9++){
let data35 = data34[i9];
const _errs79 = errors;
if(errors === _errs79){
if(data35 && typeof data35 == "object" && !Array.isArray(data35)){
let missing6;
if((data35.dst === undefined) && (missing6 = "dst")){
const err51 = {instancePath:instancePath+"/ip4/routes/" + i9,schemaPath:"#/anyOf/1/properties/ip4/properties/routes/items/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
else {
if(data35.dst !== undefined){
let data36 = data35.dst;
const _errs81 = errors;
if(errors === _errs81){
if(typeof data36 === "string"){
if(data36.length < 1){
const err52 = {instancePath:instancePath+"/ip4/routes/" + i9+"/dst",schemaPath:"#/anyOf/1/properties/ip4/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
const err53 = {instancePath:instancePath+"/ip4/routes/" + i9+"/dst",schemaPath:"#/anyOf/1/properties/ip4/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
var valid20 = _errs81 === errors;
}
else {
var valid20 = true;
}
if(valid20){
if(data35.gw !== undefined){
const _errs83 = errors;
if(typeof data35.gw !== "string"){
const err54 = {instancePath:instancePath+"/ip4/routes/" + i9+"/gw",schemaPath:"#/anyOf/1/properties/ip4/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
var valid20 = _errs83 === errors;
}
else {
var valid20 = true;
}
}
}
}
else {
const err55 = {instancePath:instancePath+"/ip4/routes/" + i9,schemaPath:"#/anyOf/1/properties/ip4/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
var valid19 = _errs79 === errors;
if(!valid19){
break;
}
}
}
else {
const err56 = {instancePath:instancePath+"/ip4/routes",schemaPath:"#/anyOf/1/properties/ip4/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
var valid18 = _errs77 === errors;
}
else {
var valid18 = true;
}
}
}
}
}
else {
const err57 = {instancePath:instancePath+"/ip4",schemaPath:"#/anyOf/1/properties/ip4/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
var valid13 = _errs71 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data.ip6 !== undefined){
let data38 = data.ip6;
const _errs85 = errors;
if(errors === _errs85){
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
let missing7;
if((data38.ip === undefined) && (missing7 = "ip")){
const err58 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/1/properties/ip6/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
else {
if(data38.ip !== undefined){
let data39 = data38.ip;
const _errs87 = errors;
if(errors === _errs87){
if(typeof data39 === "string"){
if(data39.length < 1){
const err59 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/1/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
else {
const err60 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/1/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
var valid21 = _errs87 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data38.gateway !== undefined){
const _errs89 = errors;
if(typeof data38.gateway !== "string"){
const err61 = {instancePath:instancePath+"/ip6/gateway",schemaPath:"#/anyOf/1/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
var valid21 = _errs89 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data38.routes !== undefined){
let data41 = data38.routes;
const _errs91 = errors;
if(errors === _errs91){
if(Array.isArray(data41)){
var valid22 = true;
const len10 = data41.length;
for(let i10=0; i10<len10; i10++){
let data42 = data41[i10];
const _errs93 = errors;
if(errors === _errs93){
if(data42 && typeof data42 == "object" && !Array.isArray(data42)){
let missing8;
if((data42.dst === undefined) && (missing8 = "dst")){
const err62 = {instancePath:instancePath+"/ip6/routes/" + i10,schemaPath:"#/anyOf/1/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing8},message:"must have required property '"+missing8+"'"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
else {
if(data42.dst !== undefined){
let data43 = data42.dst;
const _errs95 = errors;
if(errors === _errs95){
if(typeof data43 === "string"){
if(data43.length < 1){
const err63 = {instancePath:instancePath+"/ip6/routes/" + i10+"/dst",schemaPath:"#/anyOf/1/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
}
else {
const err64 = {instancePath:instancePath+"/ip6/routes/" + i10+"/dst",schemaPath:"#/anyOf/1/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
var valid23 = _errs95 === errors;
}
else {
var valid23 = true;
}
if(valid23){
if(data42.gw !== undefined){
const _errs97 = errors;
if(typeof data42.gw !== "string"){
const err65 = {instancePath:instancePath+"/ip6/routes/" + i10+"/gw",schemaPath:"#/anyOf/1/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
var valid23 = _errs97 === errors;
}
else {
var valid23 = true;
}
}
}
}
else {
const err66 = {instancePath:instancePath+"/ip6/routes/" + i10,schemaPath:"#/anyOf/1/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
var valid22 = _errs93 === errors;
if(!valid22){
break;
}
}
}
else {
const err67 = {instancePath:instancePath+"/ip6/routes",schemaPath:"#/anyOf/1/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
var valid21 = _errs91 === errors;
}
else {
var valid21 = true;
}
}
}
}
}
else {
const err68 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/1/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
var valid13 = _errs85 === errors;
}
else {
var valid13 = true;
}
}
}
}
}
}
else {
const err69 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
var _valid0 = _errs51 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs99 = errors;
if(errors === _errs99){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing9;
if(((data.cniVersion === undefined) && (missing9 = "cniVersion")) || ((data.ip6 === undefined) && (missing9 = "ip6"))){
const err70 = {instancePath,schemaPath:"#/anyOf/2/required",keyword:"required",params:{missingProperty: missing9},message:"must have required property '"+missing9+"'"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
else {
if(data.cniVersion !== undefined){
let data45 = data.cniVersion;
const _errs101 = errors;
if(errors === _errs101){
if(typeof data45 === "string"){
if(data45.length < 1){
const err71 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/2/properties/cniVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
else {
const err72 = {instancePath:instancePath+"/cniVersion",schemaPath:"#/anyOf/2/properties/cniVersion/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
var valid24 = _errs101 === errors;
}
else {
var valid24 = true;
}
if(valid24){
if(data.dns !== undefined){
let data46 = data.dns;
const _errs103 = errors;
if(errors === _errs103){
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
if(data46.nameservers !== undefined){
let data47 = data46.nameservers;
const _errs105 = errors;
if(errors === _errs105){
if(Array.isArray(data47)){
var valid26 = true;
const len11 = data47.length;
for(let i11=0; i11<len11; i11++){
const _errs107 = errors;
if(typeof data47[i11] !== "string"){
const err73 = {instancePath:instancePath+"/dns/nameservers/" + i11,schemaPath:"#/anyOf/2/properties/dns/properties/nameservers/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
var valid26 = _errs107 === errors;
if(!valid26){
break;
}
}
}
else {
const err74 = {instancePath:instancePath+"/dns/nameservers",schemaPath:"#/anyOf/2/properties/dns/properties/nameservers/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
var valid25 = _errs105 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data46.domain !== undefined){
const _errs109 = errors;
if(typeof data46.domain !== "string"){
const err75 = {instancePath:instancePath+"/dns/domain",schemaPath:"#/anyOf/2/properties/dns/properties/domain/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
var valid25 = _errs109 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data46.search !== undefined){
let data50 = data46.search;
const _errs111 = errors;
if(errors === _errs111){
if(Array.isArray(data50)){
var valid27 = true;
const len12 = data50.length;
for(let i12=0; i12<len12; i12++){
const _errs113 = errors;
if(typeof data50[i12] !== "string"){
const err76 = {instancePath:instancePath+"/dns/search/" + i12,schemaPath:"#/anyOf/2/properties/dns/properties/search/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
var valid27 = _errs113 === errors;
if(!valid27){
break;
}
}
}
else {
const err77 = {instancePath:instancePath+"/dns/search",schemaPath:"#/anyOf/2/properties/dns/properties/search/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
var valid25 = _errs111 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data46.options !== undefined){
let data52 = data46.options;
const _errs115 = errors;
if(errors === _errs115){
if(Array.isArray(data52)){
var valid28 = true;
const len13 = data52.length;
for(let i13=0; i13<len13; i13++){
const _errs117 = errors;
if(typeof data52[i13] !== "string"){
const err78 = {instancePath:instancePath+"/dns/options/" + i13,schemaPath:"#/anyOf/2/properties/dns/properties/options/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
var valid28 = _errs117 === errors;
if(!valid28){
break;
}
}
}
else {
const err79 = {instancePath:instancePath+"/dns/options",schemaPath:"#/anyOf/2/properties/dns/properties/options/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
var valid25 = _errs115 === errors;
}
else {
var valid25 = true;
}
}
}
}
}
else {
const err80 = {instancePath:instancePath+"/dns",schemaPath:"#/anyOf/2/properties/dns/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
var valid24 = _errs103 === errors;
}
else {
var valid24 = true;
}
if(valid24){
if(data.ip6 !== undefined){
let data54 = data.ip6;
const _errs119 = errors;
if(errors === _errs119){
if(data54 && typeof data54 == "object" && !Array.isArray(data54)){
let missing10;
if((data54.ip === undefined) && (missing10 = "ip")){
const err81 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/2/properties/ip6/required",keyword:"required",params:{missingProperty: missing10},message:"must have required property '"+missing10+"'"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
else {
if(data54.ip !== undefined){
let data55 = data54.ip;
const _errs121 = errors;
if(errors === _errs121){
if(typeof data55 === "string"){
if(data55.length < 1){
const err82 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/2/properties/ip6/properties/ip/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
else {
const err83 = {instancePath:instancePath+"/ip6/ip",schemaPath:"#/anyOf/2/properties/ip6/properties/ip/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
var valid29 = _errs121 === errors;
}
else {
var valid29 = true;
}
if(valid29){
if(data54.gateway !== undefined){
const _errs123 = errors;
if(typeof data54.gateway !== "string"){
const err84 = {instancePath:instancePath+"/ip6/gateway",schemaPath:"#/anyOf/2/properties/ip6/properties/gateway/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
var valid29 = _errs123 === errors;
}
else {
var valid29 = true;
}
if(valid29){
if(data54.routes !== undefined){
let data57 = data54.routes;
const _errs125 = errors;
if(errors === _errs125){
if(Array.isArray(data57)){
var valid30 = true;
const len14 = data57.length;
for(let i14=0; i14<len14; i14++){
let data58 = data57[i14];
const _errs127 = errors;
if(errors === _errs127){
if(data58 && typeof data58 == "object" && !Array.isArray(data58)){
let missing11;
if((data58.dst === undefined) && (missing11 = "dst")){
const err85 = {instancePath:instancePath+"/ip6/routes/" + i14,schemaPath:"#/anyOf/2/properties/ip6/properties/routes/items/required",keyword:"required",params:{missingProperty: missing11},message:"must have required property '"+missing11+"'"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
else {
if(data58.dst !== undefined){
let data59 = data58.dst;
const _errs129 = errors;
if(errors === _errs129){
if(typeof data59 === "string"){
if(data59.length < 1){
const err86 = {instancePath:instancePath+"/ip6/routes/" + i14+"/dst",schemaPath:"#/anyOf/2/properties/ip6/properties/routes/items/properties/dst/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
else {
const err87 = {instancePath:instancePath+"/ip6/routes/" + i14+"/dst",schemaPath:"#/anyOf/2/properties/ip6/properties/routes/items/properties/dst/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
var valid31 = _errs129 === errors;
}
else {
var valid31 = true;
}
if(valid31){
if(data58.gw !== undefined){
const _errs131 = errors;
if(typeof data58.gw !== "string"){
const err88 = {instancePath:instancePath+"/ip6/routes/" + i14+"/gw",schemaPath:"#/anyOf/2/properties/ip6/properties/routes/items/properties/gw/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
var valid31 = _errs131 === errors;
}
else {
var valid31 = true;
}
}
}
}
else {
const err89 = {instancePath:instancePath+"/ip6/routes/" + i14,schemaPath:"#/anyOf/2/properties/ip6/properties/routes/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
var valid30 = _errs127 === errors;
if(!valid30){
break;
}
}
}
else {
const err90 = {instancePath:instancePath+"/ip6/routes",schemaPath:"#/anyOf/2/properties/ip6/properties/routes/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
var valid29 = _errs125 === errors;
}
else {
var valid29 = true;
}
}
}
}
}
else {
const err91 = {instancePath:instancePath+"/ip6",schemaPath:"#/anyOf/2/properties/ip6/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
var valid24 = _errs119 === errors;
}
else {
var valid24 = true;
}
}
}
}
}
else {
const err92 = {instancePath,schemaPath:"#/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
var _valid0 = _errs99 === errors;
valid0 = valid0 || _valid0;
}
}
if(!valid0){
const err93 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
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
const schema14 = {"type":"object","required":["code","message","hint","retryable","cniCode","details","requestId","stateDir"],"properties":{"code":{"type":"string","minLength":1},"message":{"type":"string","minLength":1},"hint":{"type":"string"},"retryable":{"type":"boolean"},"cniCode":{"type":"integer","minimum":1,"maximum":4294967295},"details":{"type":"string"},"requestId":{"type":"string","minLength":1},"stateDir":{"type":"string","minLength":1}},"$id":"ErrorReply"};

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
if(data4 > 4294967295 || isNaN(data4)){
validate13.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data4 < 1 || isNaN(data4)){
validate13.errors = [{instancePath:instancePath+"/cniCode",schemaPath:"#/properties/cniCode/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
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
