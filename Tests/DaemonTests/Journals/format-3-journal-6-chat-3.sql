-- A journal of format 3 with a snapshot of the form chat 3, written by the program whose read positions are texts of one length, on the
-- journal with the form chat 2.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1651401834;
PRAGMA user_version = 3;
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
INSERT INTO event VALUES(1,1795335865744569,'cells/lamp',1,0,'cells.set','{"value":true}','c-1','{"uid":0,"pid":5306,"method":"cells.set","call":"8ae02e304ab880ce","value":true}',699846882);
INSERT INTO event VALUES(2,1795335865744926,'cells/count',1,0,'cells.set','{"value":5}','c-2','{"uid":0,"pid":5306,"method":"cells.add","call":"5365e60cca254341","value":5}',1377784148);
INSERT INTO event VALUES(3,1795335865745114,'cells/text',1,0,'cells.set','{"value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}','c-3','{"uid":0,"pid":5306,"method":"cells.set","call":"b5e3ef0116eb6501","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}',1098659033);
INSERT INTO event VALUES(22,1795335868640760,'cells/last',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":5337,"method":"cells.set"}',417550323);
INSERT INTO event VALUES(23,1795335868663959,'daemon',1,0,'daemon.compacted','{"from":4,"to":21,"count":18}',NULL,'{"uid":0,"pid":5294,"method":"journal.compact"}',2943078845);
INSERT INTO event VALUES(24,1795657673279797,'cells/forgotten',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":20441,"method":"set","program":"bindctl"}',2097854411);
INSERT INTO event VALUES(25,1795657673851653,'cells/forgotten',2,24,'cells.removed','{}',NULL,'{"uid":0,"pid":20456,"method":"cells.remove","program":"bindctl"}',2125181997);
INSERT INTO event VALUES(26,1795657674694646,'cells/last',2,22,'cells.set','{"value":2}',NULL,'{"uid":0,"pid":20471,"method":"set","program":"bindctl"}',3780956490);
INSERT INTO event VALUES(27,1795705857980007,'todo/1',1,0,'todo.added','{"title":"bread"}',NULL,'{"uid":0,"pid":13744,"method":"todo.add","program":"bindctl"}',3259608699);
INSERT INTO event VALUES(28,1795705858014539,'todo/1',2,27,'todo.finished','{}',NULL,'{"uid":0,"pid":13747,"method":"todo.finish","program":"bindctl"}',4155412274);
INSERT INTO event VALUES(29,1795714224196606,'people/1',2,12,'people.colored','{"color":"#1e90ff"}',NULL,'{"uid":0,"pid":2752,"method":"people.color","program":"bindctl"}',2731863162);
INSERT INTO event VALUES(30,1795743158915366,'threads/1',4,15,'threads.posted','{"post":2,"author":0,"body":"black","name":"kim"}',NULL,'{"uid":0,"pid":20383,"method":"threads.post","program":"bindctl"}',117480898);
INSERT INTO event VALUES(31,1795743158924274,'users/kim',3,21,'users.edited','{"full_name":"Kim K","about":"tea"}',NULL,'{"uid":0,"pid":20384,"method":"users.edit","program":"bindctl"}',4228148366);
INSERT INTO event VALUES(32,1795754052487548,'users/lee',1,0,'users.registered','{"uid":0}',NULL,'{"uid":0,"pid":25106,"method":"users.log_in","program":"bindctl"}',1919876826);
INSERT INTO event VALUES(33,1795754052506461,'chat/rooms/2',1,0,'chat.created','{"id":2,"name":"Tea Room","topic":"green","by":"kim"}',NULL,'{"uid":0,"pid":25107,"method":"chat.create","program":"bindctl"}',1950622810);
INSERT INTO event VALUES(34,1795754052526779,'chat/rooms/2/messages',1,0,'chat.said','{"room":2,"id":1,"by":"kim","text":"black"}',NULL,'{"uid":0,"pid":25108,"method":"chat.send","program":"bindctl"}',2645748516);
INSERT INTO event VALUES(35,1795754052546275,'chat/rooms/2/messages',2,34,'chat.said','{"room":2,"id":2,"by":"kim","text":"red"}',NULL,'{"uid":0,"pid":25109,"method":"chat.send","program":"bindctl"}',1020958756);
INSERT INTO event VALUES(36,1795754052562643,'chat/rooms/2/messages',3,35,'chat.said','{"room":2,"id":3,"by":"kim","text":"white"}',NULL,'{"uid":0,"pid":25110,"method":"chat.send","program":"bindctl"}',3740610689);
INSERT INTO event VALUES(37,1795754052576279,'chat/rooms/2',2,33,'chat.joined','{"id":2,"name":"lee"}',NULL,'{"uid":0,"pid":25111,"method":"chat.join","program":"bindctl"}',3470603342);
INSERT INTO event VALUES(38,1795754052594329,'chat/rooms/2/messages',4,36,'chat.said','{"room":2,"id":4,"by":"kim","text":"rooibos"}',NULL,'{"uid":0,"pid":25112,"method":"chat.send","program":"bindctl"}',3472240044);
INSERT INTO event VALUES(39,1795754052609863,'chat/rooms/2/messages',5,38,'chat.said','{"room":2,"id":5,"by":"kim","text":"mate"}',NULL,'{"uid":0,"pid":25113,"method":"chat.send","program":"bindctl"}',1981372661);
INSERT INTO event VALUES(40,1795754052622722,'chat/rooms/2/messages',6,39,'chat.edited','{"room":2,"id":1,"text":"Assam"}',NULL,'{"uid":0,"pid":25114,"method":"chat.edit","program":"bindctl"}',1501315113);
INSERT INTO event VALUES(41,1795754052632435,'chat/rooms/2/messages',7,40,'chat.message_removed','{"room":2,"id":2,"by":"kim"}',NULL,'{"uid":0,"pid":25115,"method":"chat.remove_message","program":"bindctl"}',1924135091);
INSERT INTO event VALUES(42,1795754052648869,'chat/rooms/2/messages',8,41,'chat.message_removed','{"room":2,"id":5,"by":"kim"}',NULL,'{"uid":0,"pid":25116,"method":"chat.remove_message","program":"bindctl"}',1584807376);
INSERT INTO event VALUES(43,1795760721984689,'chat/rooms/2/messages',9,42,'chat.said','{"room":2,"id":6,"by":"kim","text":"m1"}',NULL,'{"uid":0,"pid":14028,"method":"chat.send","program":"bindctl"}',348267322);
INSERT INTO event VALUES(44,1795760722065205,'chat/rooms/2/messages',10,43,'chat.said','{"room":2,"id":7,"by":"kim","text":"m2"}',NULL,'{"uid":0,"pid":14038,"method":"chat.send","program":"bindctl"}',1823189783);
INSERT INTO event VALUES(45,1795760722087920,'chat/rooms/2/messages',11,44,'chat.said','{"room":2,"id":8,"by":"kim","text":"m3"}',NULL,'{"uid":0,"pid":14039,"method":"chat.send","program":"bindctl"}',398342361);
INSERT INTO event VALUES(46,1795760722100227,'chat/rooms/2/messages',12,45,'chat.said','{"room":2,"id":9,"by":"kim","text":"m4"}',NULL,'{"uid":0,"pid":14045,"method":"chat.send","program":"bindctl"}',3814827156);
INSERT INTO event VALUES(47,1795760722127805,'chat/rooms/2/messages',13,46,'chat.said','{"room":2,"id":10,"by":"kim","text":"m5"}',NULL,'{"uid":0,"pid":14048,"method":"chat.send","program":"bindctl"}',4078351434);
INSERT INTO event VALUES(48,1795760722153279,'chat/rooms/2/messages',14,47,'chat.said','{"room":2,"id":11,"by":"kim","text":"m6"}',NULL,'{"uid":0,"pid":14050,"method":"chat.send","program":"bindctl"}',2945887664);
INSERT INTO event VALUES(49,1795760722193043,'chat/rooms/2/messages',15,48,'chat.said','{"room":2,"id":12,"by":"kim","text":"m7"}',NULL,'{"uid":0,"pid":14054,"method":"chat.send","program":"bindctl"}',3684654477);
INSERT INTO event VALUES(50,1795760722219924,'chat/rooms/2/messages',16,49,'chat.said','{"room":2,"id":13,"by":"kim","text":"m8"}',NULL,'{"uid":0,"pid":14057,"method":"chat.send","program":"bindctl"}',2554772708);
INSERT INTO event VALUES(51,1795760722258304,'chat/rooms/2/messages',17,50,'chat.said','{"room":2,"id":14,"by":"kim","text":"m9"}',NULL,'{"uid":0,"pid":14058,"method":"chat.send","program":"bindctl"}',400258641);
INSERT INTO event VALUES(52,1795760722276548,'chat/rooms/2/messages',18,51,'chat.said','{"room":2,"id":15,"by":"kim","text":"m10"}',NULL,'{"uid":0,"pid":14064,"method":"chat.send","program":"bindctl"}',180184560);
INSERT INTO event VALUES(53,1795760722291832,'chat/read/lee',1,0,'chat.read','{"room":2,"up_to":9,"by":"lee"}',NULL,'{"uid":0,"pid":14070,"method":"chat.read","program":"bindctl"}',3869752654);
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
INSERT INTO snapshot VALUES('bindings',26,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('bindings',42,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('bindings',53,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('cells',26,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('cells',42,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('cells',53,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('chat',26,0,1,1,'{"rooms":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim","members":{"kim":1},"count":1}},"messages":{"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"lastRoom":1}',454107818);
INSERT INTO snapshot VALUES('chat',42,0,1,2,'{"rooms":{"rows":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim"},"2":{"id":2,"name":"Tea Room","topic":"green","creator":"kim"}},"lastID":2},"members":{"1":["kim"],"2":["kim","lee"]},"marks":{"1":[1],"2":[5,3]},"messages":{"2":[{"id":1,"author":"kim","text":"Assam","time":1795754052526779,"edited":true,"removed":false},{"id":2,"author":"kim","text":"","time":1795754052546275,"edited":false,"removed":true},{"id":3,"author":"kim","text":"white","time":1795754052562643,"edited":false,"removed":false},{"id":4,"author":"kim","text":"rooibos","time":1795754052594329,"edited":false,"removed":false},{"id":5,"author":"kim","text":"","time":1795754052609863,"edited":false,"removed":true}],"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"deleted":{"2":[2,5]},"looks":{"rows":{"lobby":[1],"tea room":[2]}}}',512275296);
INSERT INTO snapshot VALUES('chat',53,0,1,3,'{"rooms":{"rows":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim"},"2":{"id":2,"name":"Tea Room","topic":"green","creator":"kim"}},"lastID":2},"members":{"1":["kim"],"2":["kim","lee"]},"marks":{"2":["0000000015","0000000009"],"1":["0000000001"]},"messages":{"2":[{"id":1,"author":"kim","text":"Assam","time":1795754052526779,"edited":true,"removed":false},{"id":2,"author":"kim","text":"","time":1795754052546275,"edited":false,"removed":true},{"id":3,"author":"kim","text":"white","time":1795754052562643,"edited":false,"removed":false},{"id":4,"author":"kim","text":"rooibos","time":1795754052594329,"edited":false,"removed":false},{"id":5,"author":"kim","text":"","time":1795754052609863,"edited":false,"removed":true},{"id":6,"author":"kim","text":"m1","time":1795760721984689,"edited":false,"removed":false},{"id":7,"author":"kim","text":"m2","time":1795760722065205,"edited":false,"removed":false},{"id":8,"author":"kim","text":"m3","time":1795760722087920,"edited":false,"removed":false},{"id":9,"author":"kim","text":"m4","time":1795760722100227,"edited":false,"removed":false},{"id":10,"author":"kim","text":"m5","time":1795760722127805,"edited":false,"removed":false},{"id":11,"author":"kim","text":"m6","time":1795760722153279,"edited":false,"removed":false},{"id":12,"author":"kim","text":"m7","time":1795760722193043,"edited":false,"removed":false},{"id":13,"author":"kim","text":"m8","time":1795760722219924,"edited":false,"removed":false},{"id":14,"author":"kim","text":"m9","time":1795760722258304,"edited":false,"removed":false},{"id":15,"author":"kim","text":"m10","time":1795760722276548,"edited":false,"removed":false}],"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"deleted":{"2":[2,5]},"looks":{"rows":{"lobby":[1],"tea room":[2]}}}',251970531);
INSERT INTO snapshot VALUES('daemon',26,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('daemon',42,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('daemon',53,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('feeds',26,0,1,1,'{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":[],"lastID":0,"unplayed":0}}',1811749899);
INSERT INTO snapshot VALUES('feeds',42,0,1,2,'{"feeds":{"rows":{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":0,"unplayed":0,"lastID":0}}},"episodes":{}}',824454333);
INSERT INTO snapshot VALUES('feeds',53,0,1,2,'{"feeds":{"rows":{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":0,"unplayed":0,"lastID":0}}},"episodes":{}}',824454333);
INSERT INTO snapshot VALUES('journal',26,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[12,1],"chat/rooms/1":[19,1],"threads/1":[15,3],"bindings/k":[10,1],"users/kim":[21,2],"lists/todo":[8,2],"cells/forgotten":[25,2]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',2008260594);
INSERT INTO snapshot VALUES('journal',42,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[29,2],"chat/rooms/1":[19,1],"threads/1":[30,4],"bindings/k":[10,1],"users/kim":[31,3,0],"lists/todo":[8,2],"cells/forgotten":[25,2],"todo/1":[28,2,0],"users/lee":[32,1,0],"chat/rooms/2":[37,2,0],"chat/rooms/2/messages":[42,8,0]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',276859583);
INSERT INTO snapshot VALUES('journal',53,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[29,2],"chat/rooms/1":[19,1],"threads/1":[30,4],"bindings/k":[10,1],"users/kim":[31,3,0],"lists/todo":[8,2],"cells/forgotten":[25,2],"todo/1":[28,2,0],"users/lee":[32,1,0],"chat/rooms/2":[37,2,0],"chat/rooms/2/messages":[52,18,0],"chat/read/lee":[53,1]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',2333803835);
INSERT INTO snapshot VALUES('lease',26,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lease',42,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lease',53,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lists',26,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('lists',42,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('lists',53,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('locks',26,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('locks',42,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('locks',53,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('maps',26,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('maps',42,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('maps',53,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('people',26,0,1,1,'{"people":{"1":{"id":1,"name":"Kim","color":"#808080"}},"lastID":1}',251088034);
INSERT INTO snapshot VALUES('people',42,0,1,2,'{"people":{"rows":{"1":{"id":1,"name":"Kim","color":"#1e90ff"}},"lastID":1}}',73797688);
INSERT INTO snapshot VALUES('people',53,0,1,2,'{"people":{"rows":{"1":{"id":1,"name":"Kim","color":"#1e90ff"}},"lastID":1}}',73797688);
INSERT INTO snapshot VALUES('readers',26,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('readers',42,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('readers',53,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('scripts',29,0,1,1,'{"texts":{"rows":{}}}',2911717524);
INSERT INTO snapshot VALUES('scripts',42,0,1,1,'{"texts":{"rows":{}}}',2911717524);
INSERT INTO snapshot VALUES('scripts',53,0,1,1,'{"texts":{"rows":{}}}',2911717524);
INSERT INTO snapshot VALUES('services',26,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('services',42,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('services',53,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('threads',26,0,1,1,'{"threads":{"1":{"id":1,"name":"Tea","posts":[{"id":1,"author":0,"body":"green","likers":[0]}],"lastPost":1,"starter":0}},"lastID":1}',1880836884);
INSERT INTO snapshot VALUES('threads',42,0,1,2,'{"threads":{"rows":{"1":{"id":1,"name":"Tea","posts":2,"lastPost":2,"starter":0}},"lastID":1},"posts":{"1":[{"id":1,"author":0,"body":"green","likers":[0]},{"id":2,"author":0,"name":"kim","body":"black","likers":[]}]}}',542673728);
INSERT INTO snapshot VALUES('threads',53,0,1,2,'{"threads":{"rows":{"1":{"id":1,"name":"Tea","posts":2,"lastPost":2,"starter":0}},"lastID":1},"posts":{"1":[{"id":1,"author":0,"body":"green","likers":[0]},{"id":2,"author":0,"name":"kim","body":"black","likers":[]}]}}',542673728);
INSERT INTO snapshot VALUES('todo',27,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":false}},"lastID":1}}',2366597301);
INSERT INTO snapshot VALUES('todo',42,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":true}},"lastID":1}}',2709227857);
INSERT INTO snapshot VALUES('todo',53,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":true}},"lastID":1}}',2709227857);
INSERT INTO snapshot VALUES('types',31,0,1,1,'{"entries":{}}',2823366809);
INSERT INTO snapshot VALUES('types',42,0,1,1,'{"entries":{}}',2823366809);
INSERT INTO snapshot VALUES('types',53,0,1,1,'{"entries":{}}',2823366809);
INSERT INTO snapshot VALUES('users',26,0,1,1,'{"users":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"x","friends":[]}},"tokens":{},"lastToken":0}',49231099);
INSERT INTO snapshot VALUES('users',42,0,1,2,'{"users":{"rows":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"tea","friends":[]},"lee":{"name":"lee","uid":0,"full_name":"","about":"","friends":[]}}},"tokens":{"rows":{},"lastID":0},"names":{"rows":{"0":["kim","lee"]},"lastID":0}}',912004130);
INSERT INTO snapshot VALUES('users',53,0,1,2,'{"users":{"rows":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"tea","friends":[]},"lee":{"name":"lee","uid":0,"full_name":"","about":"","friends":[]}}},"tokens":{"rows":{},"lastID":0},"names":{"rows":{"0":["kim","lee"]},"lastID":0}}',912004130);
CREATE TABLE journal (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal VALUES('epoch','f6018e1a');
INSERT INTO journal VALUES('first','1');
INSERT INTO journal VALUES('removed:*','21');
INSERT INTO journal VALUES('removed:bindings','10');
INSERT INTO journal VALUES('removed:cells','11');
INSERT INTO journal VALUES('removed:chat','20');
INSERT INTO journal VALUES('removed:feeds','17');
INSERT INTO journal VALUES('removed:lists','8');
INSERT INTO journal VALUES('removed:maps','9');
INSERT INTO journal VALUES('removed:people','12');
INSERT INTO journal VALUES('removed:readers','16');
INSERT INTO journal VALUES('removed:threads','15');
INSERT INTO journal VALUES('removed:users','21');
CREATE TABLE removal (
  first    INTEGER PRIMARY KEY,
  last     INTEGER NOT NULL,
  kept     INTEGER NOT NULL,
  services TEXT NOT NULL
) STRICT;
INSERT INTO removal VALUES(1,21,3,' * bindings cells chat feeds lists maps people readers threads users ');
COMMIT;
