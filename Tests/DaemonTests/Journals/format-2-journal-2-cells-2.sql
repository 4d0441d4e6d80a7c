-- A journal of format 2 with snapshots of the forms journal 2 and cells 2, written by the program of commit 8e6b025.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1651401834;
PRAGMA user_version = 2;
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
INSERT INTO event VALUES(1,1795335833872035,'cells/lamp',1,0,'cells.set','{"value":true}','c-1','{"uid":0,"pid":4836,"method":"cells.set","call":"8ae02e304ab880ce","value":true}',909633580);
INSERT INTO event VALUES(2,1795335833872423,'cells/count',1,0,'cells.set','{"value":5}','c-2','{"uid":0,"pid":4836,"method":"cells.add","call":"5365e60cca254341","value":5}',3276203603);
INSERT INTO event VALUES(3,1795335833872615,'cells/text',1,0,'cells.set','{"value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}','c-3','{"uid":0,"pid":4836,"method":"cells.set","call":"b5e3ef0116eb6501","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}',377893507);
INSERT INTO event VALUES(17,1795335834386938,'feeds/news',1,0,'feeds.subscribed','{"url":"https://feeds.example/a.xml"}',NULL,'{"uid":0,"pid":4840,"method":"feeds.subscribe"}',3954890280);
INSERT INTO event VALUES(18,1795335836732884,'cells/last',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":4856,"method":"cells.set"}',1435849416);
INSERT INTO event VALUES(19,1795335836758243,'daemon',1,0,'daemon.compacted','{"from":4,"to":16,"count":13}',NULL,'{"uid":0,"pid":4824,"method":"journal.compact"}',881500486);
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
INSERT INTO snapshot VALUES('bindings',16,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('bindings',19,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('cells',16,0,1,2,'{"cells/lamp":false,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/copy":false}',1611356349);
INSERT INTO snapshot VALUES('cells',19,0,1,2,'{"cells/copy":false,"cells/lamp":false,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/last":1}',3035817902);
INSERT INTO snapshot VALUES('daemon',16,0,1,1,'{"removedCount":0}',599188471);
INSERT INTO snapshot VALUES('daemon',19,0,1,1,'{"lastCompaction":{"from":4,"to":16,"count":13,"time":1795335836758243},"removedCount":13}',1780967275);
INSERT INTO snapshot VALUES('feeds',16,0,1,1,'{}',695980202);
INSERT INTO snapshot VALUES('feeds',19,0,1,1,'{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":[],"lastID":0,"unplayed":0}}',1811749899);
INSERT INTO snapshot VALUES('journal',16,0,1,2,'{"heads":{"cells/lamp":[6,2],"cells/text":[3,1],"readers/mailer":[16,1],"maps/hosts":[9,1],"people/1":[12,1],"lists/todo":[8,2],"bindings/k":[10,1],"threads/1":[15,3],"cells/copy":[11,1],"cells/gone":[5,2],"cells/count":[2,1]},"window":{"entries":{"c-3":{"seq":3,"version":1,"time":1795335833872615,"call":"b5e3ef0116eb6501","isInJournal":true},"c-1":{"seq":1,"version":1,"time":1795335833872035,"call":"8ae02e304ab880ce","value":true,"isInJournal":false},"c-2":{"seq":2,"version":1,"time":1795335833872423,"call":"5365e60cca254341","value":5,"isInJournal":false}},"order":["c-1","c-2","c-3"],"oldest":0}}',3073895761);
INSERT INTO snapshot VALUES('journal',19,0,1,2,'{"heads":{"cells/last":[18,1],"cells/lamp":[6,2],"lists/todo":[8,2],"cells/gone":[5,2],"people/1":[12,1],"cells/text":[3,1],"readers/mailer":[16,1],"threads/1":[15,3],"cells/count":[2,1],"daemon":[19,1],"feeds/news":[17,1],"cells/copy":[11,1],"maps/hosts":[9,1],"bindings/k":[10,1]},"window":{"entries":{"c-1":{"seq":1,"version":1,"time":1795335833872035,"call":"8ae02e304ab880ce","value":true,"isInJournal":false},"c-3":{"seq":3,"version":1,"time":1795335833872615,"call":"b5e3ef0116eb6501","isInJournal":true},"c-2":{"seq":2,"version":1,"time":1795335833872423,"call":"5365e60cca254341","value":5,"isInJournal":false}},"order":["c-1","c-2","c-3"],"oldest":0}}',2757484794);
INSERT INTO snapshot VALUES('lists',16,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('lists',19,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('maps',16,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('maps',19,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('people',16,0,1,1,'{"people":{"1":{"id":1,"name":"Kim","color":"#808080"}},"lastID":1}',251088034);
INSERT INTO snapshot VALUES('people',19,0,1,1,'{"people":{"1":{"id":1,"name":"Kim","color":"#808080"}},"lastID":1}',251088034);
INSERT INTO snapshot VALUES('readers',16,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('readers',19,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('threads',16,0,1,1,'{"threads":{"1":{"id":1,"name":"Tea","posts":[{"id":1,"author":0,"body":"green","likers":[0]}],"lastPost":1}},"lastID":1}',3122716645);
INSERT INTO snapshot VALUES('threads',19,0,1,1,'{"threads":{"1":{"id":1,"name":"Tea","posts":[{"id":1,"author":0,"body":"green","likers":[0]}],"lastPost":1}},"lastID":1}',3122716645);
CREATE TABLE journal (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal VALUES('age','1795335833800693');
INSERT INTO journal VALUES('epoch','6c7c83d3');
INSERT INTO journal VALUES('first','1');
INSERT INTO journal VALUES('removed:*','16');
INSERT INTO journal VALUES('removed:bindings','10');
INSERT INTO journal VALUES('removed:cells','11');
INSERT INTO journal VALUES('removed:lists','8');
INSERT INTO journal VALUES('removed:maps','9');
INSERT INTO journal VALUES('removed:people','12');
INSERT INTO journal VALUES('removed:readers','16');
INSERT INTO journal VALUES('removed:threads','15');
CREATE TABLE removal (
  first    INTEGER PRIMARY KEY,
  last     INTEGER NOT NULL,
  kept     INTEGER NOT NULL,
  services TEXT NOT NULL
) STRICT;
INSERT INTO removal VALUES(1,16,3,' * bindings cells lists maps people readers threads ');
COMMIT;
