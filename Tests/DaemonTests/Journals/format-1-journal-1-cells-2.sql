-- A journal of format 1 with snapshots of the forms journal 1 and cells 2, written by the program of commit 1148b29.
PRAGMA auto_vacuum = NONE;
PRAGMA application_id = 1651401834;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE event (
  seq      INTEGER PRIMARY KEY,
  time     INTEGER NOT NULL,
  stream   TEXT NOT NULL,
  version  INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  type     TEXT NOT NULL,
  data     TEXT NOT NULL,
  command  TEXT,
  meta     TEXT,
  crc      INTEGER NOT NULL
) STRICT;
INSERT INTO event VALUES(1,1795335556326830,'cells/lamp',1,0,'cells.set','{"value":true}','c-1','{"uid":0,"pid":838,"method":"cells.set","call":"8ae02e304ab880ce","value":true}',1643505333);
INSERT INTO event VALUES(2,1795335556327118,'cells/count',1,0,'cells.set','{"value":5}','c-2','{"uid":0,"pid":838,"method":"cells.add","call":"ab04ad2dd7f60025","value":5}',2950298941);
INSERT INTO event VALUES(3,1795335556327291,'cells/text',1,0,'cells.set','{"value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}','c-3','{"uid":0,"pid":838,"method":"cells.set","call":"b5e3ef0116eb6501","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}',1568838678);
INSERT INTO event VALUES(4,1795335556327354,'cells/gone',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":838,"method":"cells.set"}',1086514473);
INSERT INTO event VALUES(5,1795335556327401,'cells/gone',2,4,'cells.removed','{}',NULL,'{"uid":0,"pid":838,"method":"cells.remove"}',2889310095);
INSERT INTO event VALUES(6,1795335556327447,'cells/lamp',2,1,'cells.set','{"value":false}',NULL,'{"uid":0,"pid":838,"method":"cells.set"}',184436812);
CREATE TABLE snapshot (
  service TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  part    INTEGER NOT NULL,
  parts   INTEGER NOT NULL,
  schema  INTEGER NOT NULL,
  data    TEXT NOT NULL,
  crc     INTEGER NOT NULL,
  PRIMARY KEY (service, seq, part)
) STRICT, WITHOUT ROWID;
INSERT INTO snapshot VALUES('bindings',6,0,1,1,'{"expressions":{}}',532406436);
INSERT INTO snapshot VALUES('cells',6,0,1,2,'{"cells/count":5,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/lamp":false}',286946872);
INSERT INTO snapshot VALUES('journal',6,0,1,1,'{"heads":{"cells/gone":[5,2],"cells/lamp":[6,2],"cells/count":[2,1],"cells/text":[3,1]},"window":{"entries":{"c-2":{"seq":2,"version":1,"time":1795335556327118,"call":"ab04ad2dd7f60025","value":5},"c-3":{"seq":3,"version":1,"time":1795335556327291,"call":"b5e3ef0116eb6501","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},"c-1":{"seq":1,"version":1,"time":1795335556326830,"call":"8ae02e304ab880ce","value":true}},"order":["c-1","c-2","c-3"],"oldest":0}}',870767453);
INSERT INTO snapshot VALUES('lists',6,0,1,1,'{"lists":{}}',2015400635);
INSERT INTO snapshot VALUES('maps',6,0,1,1,'{"maps":{}}',3625238735);
CREATE TABLE journal (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal VALUES('epoch','0f33937c');
COMMIT;
